// The local page: a tab per question, a form made of fields, answers from the server on this machine.

import { byId, copy, escape, save, skip } from "./common.mjs";

const FIELDS = {
  tp: ["positive, and found positive (TP)", "26", "Positive: what the test looks for, such as ill."],
  fn: ["positive, but missed (FN)", "0"], fp: ["negative, but called positive (FP)", "2"], tn: ["negative, and found negative (TN)", "6"],
  table: ["Instead of the four numbers: paste a table, or drop a CSV or .xlsx file", "", "A matrix of any number of classes: a row for each true one, a column for each predicted. Or columns actual, predicted with a row per item. Empty: the four numbers.", "area"],
  scores: ["Paste a table, or drop a CSV or .xlsx file", "actual,score\n0,0.11\n0,0.21\n0,0.22\n0,0.34\n1,0.4\n0,0.48\n1,0.55\n0,0.61\n1,0.7\n1,0.83\n1,0.9", "Columns actual (1: positive, 0: negative) and score, a row per item. Higher scores mean positive.", "area"],
  folded: ["Paste a table, or drop a CSV or .xlsx file", "fold,tp,fn,fp,tn\n1,20,5,4,30\n2,22,3,3,31\n3,19,6,5,29\n4,21,4,6,28\n5,18,7,3,31", "A row per fold: fold,tp,fn,fp,tn. Or a row per item: fold,actual,predicted.", "area"],
  pooling: ["The folds", "complete", "As one large test; or each with a prior of its own, and the mean of them.", { complete: "added up", average: "averaged" }],
  view: ["Picture", "nomogram", "Of the first prevalence, or of all from 0.1% to 99.9%.", { nomogram: "Fagan's nomogram", band: "lines with bands" }],
  systems: ["Paste a table, or drop a CSV or .xlsx file", "system,tp,fn,fp,tn\nA,40,10,5,45\nB,35,14,9,42\nC,30,20,5,45", "A row per system: system,tp,fn,fp,tn or system,correct,wrong. Or, if all were given the same items, a row per item: actual,A,B with the truth and each system's answer.", "area"],
  model: ["Model", "dirichlet_multinomial", "One prior on the four counts together, or one each on prevalence, sensitivity and specificity.", { dirichlet_multinomial: "one sample (Dirichlet)", three_binomial: "separate rates (binomials)" }],
  prior: ["Prior", "jeffreys", "What is added to each count, as if seen before: jeffreys (half an item), laplace (one item), or a number of items."],
  prevalence: ["Prevalence, if known", "", "Share of positives, such as 2%; or fixed, if you chose how many positives and negatives to test; or 2, 18: as if 2 of 20 had been positive. Empty: estimated."],
  ci_prob: ["Level of the intervals", "0.95", "How sure: the value lies inside with this probability, such as 0.95 or 95%."],
  ci_kind: ["Kind of interval", "eti", "ETI: as much left out below as above. HDI: the shortest one.", { eti: "equal tails (ETI)", hdi: "highest density (HDI)" }],
  metrics: ["Metrics", "", "Names with commas, such as sensitivity, ppv, f1, mcc. Empty: "],
  metric: ["Metric", "accuracy", "One name, such as accuracy, sensitivity, specificity, ppv, npv, f1 or mcc."],
  space: ["Plane", "pr", "Which two metrics are looked at together.", { pr: "recall and precision (PR)", roc: "both rates (ROC)" }],
  method: ["Method", "wilks", "How the region is found. Exact: holds the truth at least as often as the level says. Likelihood ratio: the quickest.", { wilks: "likelihood ratio (Wilks)", exact: "exact", credible: "credible (Bayesian)", ellipse: "ellipse (normal)" }],
  rope: ["Differences that don't matter", "0", "Up to this size, such as 0.01, two systems count as equal."],
  width: ["Interval at most this wide", "0.1", "From end to end, such as 0.1: from 0.75 to 0.85."], mode: ["Expected value", "0.8", "What the metric will most probably be; with a known prevalence, what sensitivity and specificity will be."],
  concentration: ["How sure that is", "10", "As sure as if so many items had shown it."], assurance: ["How surely it gets no wider", "0.95", "The probability that the interval is at most that wide."],
  at: ["Prevalence where it will be used", "1%, 2%, 5%, 10%, 20%, 50%", "Shares of positives there, with commas."],
  n_items: ["Items of the second test", "", "Empty: as many as the first."], claim: ["Claim", "", "What the second test is to show, such as mcc > 0.5. Empty: none."],
};
const MATRIX = ["tp", "fn", "fp", "tn", "table"];
const MODEL = ["model", "prior", "ci_prob", "ci_kind"];
const FIVE = "recall, specificity, precision, accuracy, mcc.";
const TABS = {
  summary: ["How uncertain is it?", [...MATRIX, ...MODEL, "prevalence", "metrics"], "all in common use."],
  region: ["Where on the PR or ROC plane?", [...MATRIX, "space", "method", "ci_prob"]],
  curves: ["How good are the scores?", ["scores", "space", "metric", "ci_prob"]],
  folds: ["How good over folds?", ["folded", "pooling", "metrics", "prior", "ci_prob"], FIVE],
  compare: ["Is A better than B?", ["systems", "metric", "rope", ...MODEL]],
  items: ["How many items do I need?", ["metrics", "width", "mode", "concentration", "assurance", "prevalence", ...MODEL], "accuracy."],
  prevalences: ["What at another prevalence?", [...MATRIX, "at", "view", "model", "prior", "ci_prob"]],
  replicate: ["Will it replicate?", [...MATRIX, "n_items", "claim", "metrics", ...MODEL], FIVE],
  leaderboard: ["Who leads?", ["systems", "metric", "ci_prob"]],
};
const COMPUTING = "Computing ...";
const PATIENCE = 2000; // milliseconds until it is said that an answer takes longer
const AREAS = ["systems", "scores", "folded"]; // all of them are sent as the table
const sentAs = (name) => (AREAS.includes(name) ? "table" : name);
const values = Object.fromEntries(Object.entries(FIELDS).map(([name, [, value]]) => [name, value]));
let tab = "summary";
let last = null;
let asked = 0;

function field(name) {
  const [label, , about = "", kind] = FIELDS[name];
  const help = about + (name === "metrics" ? TABS[tab][2] : "");
  const common = `id="${name}" name="${name}" aria-describedby="${name}-help ${name}-error"`;
  const options = typeof kind === "object" ? Object.entries(kind).map(([value, text]) => `<option value="${value}">${escape(text)}</option>`) : [];
  const entry = kind === "area" ? `<textarea ${common} spellcheck="false"></textarea><input type="file" id="${name}-file" accept=".csv,.tsv,.txt,.xlsx" aria-label="File: CSV or xlsx" aria-describedby="${name}-error">`
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
  asked += 1; // what is under way belongs to another tab
  byId("result").setAttribute("aria-busy", "false");
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
  (place ?? byId("problem")).textContent = problem.message.replace(/`(\w+)`/g, (_, word) => FIELDS[word]?.[0] ?? word);
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

async function ask() {
  const mine = (asked += 1);
  explain(null);
  byId("said").textContent = "";
  byId("sentence").textContent = COMPUTING;
  const late = setTimeout(() => {
    if (mine === asked && byId("sentence").textContent === COMPUTING) byId("sentence").textContent = "Still computing. The first answers after a start take longer, and so do many systems or items ...";
  }, PATIENCE);
  byId("result").setAttribute("aria-busy", "true");
  history.replaceState(null, "", `#${new URLSearchParams({ tab, ...JSON.parse(body()) })}`);
  try {
    let response;
    do response = await post(`/api/${tab}`); while (response.status === 503 && mine === asked); // it is computed on
    const found = await response.json();
    if (mine !== asked) return;
    if (response.ok) await present(found, mine);
    else explain(found);
  } catch {
    explain({ field: "", message: "The server of this page doesn't answer; start it again: bayescm app" });
  } finally {
    clearTimeout(late);
    if (mine === asked) byId("result").setAttribute("aria-busy", "false");
  }
}

async function present(found, mine) {
  last = found;
  byId("sentence").textContent = found.sentence;
  byId("notes").textContent = found.notes.join(" ");
  byId("notes").hidden = !found.notes.length;
  byId("rows").innerHTML = found.table;
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
  skip();
  byId("print").addEventListener("click", () => print());
  for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copy(copied(button.dataset.copy), byId("code")));
  for (const button of document.querySelectorAll("[data-save]")) button.addEventListener("click", () => saveAs(button.dataset.save));
  if (given.tab) ask();
}

start();
