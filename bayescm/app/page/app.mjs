// The local page: a tab per question, a form made of fields, answers from the server on this machine.

import { byId, copy, escape, save } from "./common.mjs";

const FIELDS = {
  tp: ["positive, found positive (TP)", "26"], fn: ["positive, missed (FN)", "0"],
  fp: ["negative, alarmed (FP)", "2"], tn: ["negative, found negative (TN)", "6"],
  table: ["or paste a table, or drop a CSV or .xlsx file", "", "A matrix of any number of classes (rows: truth), from a spreadsheet too; or columns actual, predicted with a row per item. It comes before the four numbers.", "area"],
  scores: ["Paste a table, or drop a CSV or .xlsx file", "actual,score\n0,0.11\n0,0.21\n0,0.22\n0,0.34\n1,0.4\n0,0.48\n1,0.55\n0,0.61\n1,0.7\n1,0.83\n1,0.9", "Columns actual and score, a row per item; higher scores mean positive.", "area"],
  folded: ["Paste a table, or drop a CSV or .xlsx file", "fold,tp,fn,fp,tn\n1,20,5,4,30\n2,22,3,3,31\n3,19,6,5,29\n4,21,4,6,28\n5,18,7,3,31", "A row per fold: fold,tp,fn,fp,tn. Or a row per item: fold,actual,predicted.", "area"],
  pooling: ["The folds", "complete", "Added up; or a mean of the folds, each with a prior of its own.", { complete: "added up", average: "averaged" }],
  view: ["Picture", "nomogram", "Of the first prevalence, or of all from 0.1% to 99.9%.", { nomogram: "Fagan's nomogram", band: "lines with bands" }],
  systems: ["Paste a table, or drop a CSV or .xlsx file", "system,tp,fn,fp,tn\nA,40,10,5,45\nB,35,14,9,42\nC,30,20,5,45", "A row per system: system,tp,fn,fp,tn or system,correct,wrong. Or the same items: columns actual, A, B, ... with a row per item.", "area"],
  model: ["Model", "dirichlet_multinomial", "One prior on the cells, or one each on prevalence and both rates.", { dirichlet_multinomial: "one sample (Dirichlet)", three_binomial: "separate rates" }],
  prior: ["Prior", "jeffreys", "What is added to each count: jeffreys (half an item), laplace (one), or a number."],
  prevalence: ["Prevalence, if known", "", "Such as 2%; or fixed, if class totals were chosen; or two numbers of a Beta. Empty: estimated."],
  ci_prob: ["Level", "0.95", "The value lies in the interval with this probability."],
  ci_kind: ["Interval", "hdi", "The shortest, or as much left out on both sides.", { hdi: "highest density", eti: "equal tails" }],
  metrics: ["Metrics", "", "Names with commas, such as mcc, f1. Empty: the usual ones."],
  metric: ["Metric", "accuracy", "Such as accuracy, recall, f1, mcc."],
  space: ["Plane", "pr", "Which two are looked at together.", { pr: "recall and precision", roc: "both rates (ROC)" }],
  method: ["Method", "wilks", "Exact never covers too little; Wilks is the quickest.", { wilks: "likelihood ratio (Wilks)", exact: "exact", credible: "credible", ellipse: "ellipse" }],
  rope: ["Differences that don't matter", "0", "Up to this size two systems count as equal."],
  width: ["Interval at most this wide", "0.1", "From end to end."], mode: ["Expected value", "0.8", "Of the rate, most probably."],
  concentration: ["How sure that is", "10", "As if it came from so many items."], assurance: ["How surely it gets no wider", "0.95", "Probability."],
  at: ["Prevalences", "1%, 2%, 5%, 10%, 20%, 50%", "Where the test will be used; with commas."],
  n_items: ["Items of the second test", "", "Empty: as many as the first."], claim: ["Claim", "", "Such as mcc > 0.5."],
};
const MATRIX = ["tp", "fn", "fp", "tn", "table"];
const MODEL = ["model", "prior", "ci_prob", "ci_kind"];
const TABS = {
  summary: ["How uncertain is it?", [...MATRIX, ...MODEL, "prevalence", "metrics"]],
  region: ["Where on the PR or ROC plane?", [...MATRIX, "space", "method", "ci_prob"]],
  curves: ["What do scores tell?", ["scores", "space", "metric", "ci_prob"]],
  folds: ["How good over folds?", ["folded", "pooling", "metrics", "prior", "ci_prob"]],
  compare: ["Is A better than B?", ["systems", "metric", "rope", ...MODEL]],
  items: ["How many items?", ["metrics", "width", "mode", "concentration", "assurance", "prevalence", ...MODEL]],
  prevalences: ["At another prevalence?", [...MATRIX, "at", "view", "model", "prior", "ci_prob"]],
  replicate: ["Will it replicate?", [...MATRIX, "n_items", "claim", "metrics", ...MODEL]],
  leaderboard: ["Leaderboard", ["systems", "metric", "ci_prob"]],
};
const AREAS = ["systems", "scores", "folded"]; // all of them are sent as the table
const sentAs = (name) => (AREAS.includes(name) ? "table" : name);
const values = Object.fromEntries(Object.entries(FIELDS).map(([name, [, value]]) => [name, value]));
let tab = "summary";
let last = null;
let asked = 0;

function field(name) {
  const [label, , help = "", kind] = FIELDS[name];
  const common = `id="${name}" name="${name}" aria-describedby="${name}-help ${name}-error"`;
  const options = typeof kind === "object" ? Object.entries(kind).map(([value, text]) => `<option value="${value}">${escape(text)}</option>`) : [];
  const entry = kind === "area" ? `<textarea ${common} spellcheck="false"></textarea><input type="file" id="${name}-file" accept=".csv,.tsv,.txt,.xlsx" aria-label="File: CSV or xlsx">`
    : options.length ? `<select ${common}>${options.join("")}</select>` : `<input ${common} autocomplete="off">`;
  return `<div${kind === "area" ? ' class="drop"' : ""}><label for="${name}">${escape(label)}</label>${entry}<p class="help" id="${name}-help">${escape(help)}</p><p class="error" id="${name}-error" hidden></p></div>`;
}

function form() {
  const names = TABS[tab][1];
  byId("form").innerHTML = `<fieldset><legend>${escape(TABS[tab][0])}</legend>${names.map(field).join("")}</fieldset><button class="main" type="submit">Answer</button>`;
  byId("panel").setAttribute("aria-labelledby", `tab-${tab}`);
  for (const name of names) {
    byId(name).value = values[name];
    byId(name).addEventListener("input", () => { values[name] = byId(name).value; });
    if (FIELDS[name][3] === "area") takeFiles(name);
  }
}

function takeFiles(name) {
  const put = async (file) => {
    if (!file) return;
    if (file.size > 1e6) return explain({ field: name, message: "At most 1 MB here; the command line takes more." });
    try {
      values[name] = byId(name).value = /\.xlsx$/i.test(file.name) ? await fromSheet(file) : await file.text();
    } catch (problem) {
      return explain({ field: name, message: problem.message });
    }
    return ask();
  };
  byId(`${name}-file`).addEventListener("change", (event) => put(event.target.files[0]));
  const box = byId(name).parentElement;
  for (const kind of ["dragover", "dragleave", "drop"]) {
    box.addEventListener(kind, (event) => {
      event.preventDefault();
      box.classList.toggle("over", kind === "dragover");
      if (kind === "drop") put(event.dataTransfer.files[0]);
    });
  }
}

/** The cells of a spreadsheet as text between tabs: the server unpacks it in memory. */
async function fromSheet(file) {
  const letters = Array.from(new Uint8Array(await file.arrayBuffer()), (byte) => String.fromCharCode(byte));
  const response = await post("/sheet", JSON.stringify({ content: btoa(letters.join("")) }));
  const found = await response.json();
  if (!response.ok) throw new Error(found.message);
  return found.table;
}

function tabs() {
  byId("tabs").innerHTML = Object.entries(TABS).map(([name, [label]]) => `<button type="button" role="tab" id="tab-${name}" aria-controls="panel" aria-selected="${name === tab}" tabindex="${name === tab ? 0 : -1}">${escape(label)}</button>`).join("");
  for (const name of Object.keys(TABS)) byId(`tab-${name}`).addEventListener("click", () => open(name));
}

function open(name, focus = false) {
  tab = name;
  tabs();
  form();
  byId("filled").hidden = true;
  byId("sentence").textContent = "";
  explain(null);
  if (focus) byId(`tab-${name}`).focus();
}

function explain(problem) {
  for (const place of document.querySelectorAll("form .error")) place.hidden = true;
  for (const place of document.querySelectorAll("[aria-invalid]")) place.removeAttribute("aria-invalid");
  byId("problem").hidden = true;
  if (problem === null) return;
  const named = TABS[tab][1].find((name) => sentAs(name) === problem.field) ?? problem.field;
  const place = named ? byId(`${named}-error`) : null;
  (place ?? byId("problem")).textContent = problem.message;
  (place ?? byId("problem")).hidden = false;
  byId("filled").hidden = true;
  byId("sentence").textContent = "";
  if (place) {
    byId(named).setAttribute("aria-invalid", "true");
    byId(named).focus();
  }
}

function body() {
  const sent = Object.fromEntries(TABS[tab][1].map((name) => [sentAs(name), values[name]]));
  return JSON.stringify(sent);
}

const post = (path, sent = body()) => fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: sent });

function shown(value) {
  if (typeof value === "string") return value.replaceAll("_", " ");
  if (typeof value !== "number" || Number.isInteger(value)) return value ?? "";
  if (Math.abs(value) < 0.001 || Math.abs(value) >= 1000) return value.toPrecision(2);
  let decimals = 3;
  while (decimals < 6 && Math.abs(Number(value.toFixed(decimals))) === 1) decimals += 1; // no false 1
  return value.toFixed(decimals);
}

function table(records) {
  const names = Object.keys(records[0] ?? {}).filter((name) => !/^(mcse|simultaneous)/.test(name));
  const kind = (name) => (records.every((row) => typeof row[name] === "string") ? ' class="l"' : "");
  const head = names.map((name) => `<th scope="col"${kind(name)}>${escape(name.replaceAll("_", " "))}</th>`).join("");
  const rows = records.slice(0, 200).map((row) => `<tr>${names.map((name) => `<td${kind(name)}>${escape(shown(row[name]))}</td>`).join("")}</tr>`);
  return `<table><thead><tr>${head}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

async function ask() {
  const mine = (asked += 1);
  explain(null);
  byId("said").textContent = "";
  byId("result").setAttribute("aria-busy", "true");
  byId("result").classList.add("busy");
  history.replaceState(null, "", `#${new URLSearchParams({ tab, ...JSON.parse(body()) })}`);
  try {
    const response = await post(`/api/${tab}`);
    const found = await response.json();
    if (mine !== asked) return;
    if (response.ok) await present(found, mine);
    else explain(found);
  } catch {
    explain({ field: "", message: "The server of this page doesn't answer; start it again: bayescm app" });
  } finally {
    byId("result").classList.remove("busy");
    byId("result").setAttribute("aria-busy", "false");
  }
}

async function present(found, mine) {
  last = found;
  byId("sentence").textContent = found.sentence;
  byId("notes").textContent = found.notes.join(" ");
  byId("notes").hidden = !found.notes.length;
  byId("rows").innerHTML = table(found.records);
  byId("code").textContent = found.code;
  byId("assumed").textContent = found.assumptions;
  byId("words").innerHTML = found.words.map(([word, meaning]) => `<dt>${escape(word)}</dt><dd>${escape(meaning)}</dd>`).join("");
  byId("filled").hidden = false;
  byId("figure").hidden = true;
  const picture = await post(`/api/${tab}/svg`);
  if (!picture.ok || mine !== asked) return;
  byId("picture").src = URL.createObjectURL(await picture.blob());
  byId("picture").alt = found.sentence;
  byId("figure").hidden = false;
}

async function saveAs(kind) {
  const response = await post(`/api/${tab}/${kind}`);
  if (response.ok) save(await response.blob(), `bayescm-${tab}.${kind}`);
  else explain(await response.json());
}

const copied = (what) => ({ csv: () => last.csv, json: () => JSON.stringify(last, null, 1), code: () => last.code, link: () => location.href })[what]();

function start() {
  const given = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  if (given.tab in TABS) tab = given.tab;
  for (const name of TABS[tab][1]) values[name] = given[sentAs(name)] ?? values[name];
  open(tab);
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
  });
  byId("tabs").addEventListener("keydown", (event) => {
    const names = Object.keys(TABS);
    const at = names.indexOf(tab);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    open(names.at(to % names.length), true);
  });
  byId("print").addEventListener("click", () => print());
  for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copy(copied(button.dataset.copy), byId("code")));
  for (const button of document.querySelectorAll("[data-save]")) button.addEventListener("click", () => saveAs(button.dataset.save));
  if (given.tab) ask();
}

start();
