// The local page: a tab per question, a form made of fields, answers from the server on this machine as one types.

import { GRIDS, SHARED, announce, buttons, byId, copy, escape, explain, field, folded, grid, margins, save, stale } from "./common.mjs";

const FIELDS = {
  ...SHARED,
  table: ["Paste a table, or drop a CSV or .xlsx file", "", "A matrix of any number of classes: a row for each true one, a column for each predicted. Or columns actual, predicted with a row per item. Empty: the four numbers.", "area"],
  scores: ["Paste a table, or drop a CSV or .xlsx file", "actual,score\n0,0.11\n0,0.21\n0,0.22\n0,0.34\n1,0.4\n0,0.48\n1,0.55\n0,0.61\n1,0.7\n1,0.83\n1,0.9", "Columns actual (1: positive, 0: negative) and score, a row per item. Higher scores mean positive.", "area"],
  folded: ["Paste a table, or drop a CSV or .xlsx file", "fold,tp,fn,fp,tn\n1,20,5,4,30\n2,22,3,3,31\n3,19,6,5,29\n4,21,4,6,28\n5,18,7,3,31", "A row per fold: fold,tp,fn,fp,tn. Or a row per item: fold,actual,predicted.", "area"],
  pooling: ["The folds", "complete", "As one large test; or each with a prior of its own, and the mean of them.", { complete: "added up", average: "averaged" }],
  view: ["Picture", "nomogram", "Of the first prevalence, or of all from 0.1% to 99.9%.", { nomogram: "Fagan's nomogram", band: "lines with bands" }],
  systems: ["Paste a table, or drop a CSV or .xlsx file", "system,tp,fn,fp,tn\nA,40,10,5,45\nB,35,14,9,42\nC,30,20,5,45", "A row per system: system,tp,fn,fp,tn or system,correct,wrong. Or, if all were given the same items, a row per item: actual,A,B with the truth and each system's answer.", "area"],
  rivals: ["Paste a table, or drop a CSV or .xlsx file", "", "A row per system: system,tp,fn,fp,tn or system,correct,wrong. Or, if all were given the same items: actual,A,B with the truth and each system's answer, perhaps n. Empty: the eight numbers.", "area"],
  studies: ["Paste a table, or drop a CSV or .xlsx file", "study,tp,fn,fp,tn\nA,20,3,4,40\nB,15,5,3,30\nC,30,2,9,50\nD,11,4,2,22\nE,44,13,6,61", "A row per study: study,tp,fn,fp,tn.", "area"],
  groups: ["Paste a table, or drop a CSV or .xlsx file", "group,tp,fn,fp,tn\nwomen,40,10,5,45\nmen,35,14,9,42\nothers,9,6,2,10", "A row per group: group,tp,fn,fp,tn. Or a row per item: group,actual,predicted.", "area"],
  ratings: ["Paste a table, or drop a CSV or .xlsx file", "subject,A,B,C\n1,yes,yes,yes\n2,yes,yes,no\n3,no,no,no\n4,no,no,\n5,yes,yes,yes\n6,no,yes,no\n7,no,no,no\n8,yes,yes,yes\n9,no,no,no\n10,yes,no,yes", "A row per subject, a column per rater; a field is empty where one didn't rate.", "area"],
  printed: ["What is printed", "precision=.85, recall=81%, f1=.83", "Names and numbers with their decimals, as they stand in the paper."], printed_items: ["Items of the test", "1000", "All of which the numbers are about."], positives: ["Positives among them", "", "Empty: not printed."],
  unit: ["Column of units", "", "What was sampled, where rows come in groups: patient, image, question. Empty: each row by itself."],
  pos_label: ["Positive class of the table", "", "Which of two classes is looked for, where their words don't say so as positive, diseased, yes or 1 do."],
  prior: ["Prior", "jeffreys", "What is added to each count, as if seen before: jeffreys (half an item), laplace (one item), or a number of items."],
  prevalence: ["Prevalence, if known", "", "Share of positives, such as 2%; or fixed, if you chose how many positives and negatives to test; or 2, 18: as if 2 of 20 had been positive. Empty: estimated."],
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
const EXAMPLES = { tp: 26, fn: 0, fp: 2, tn: 6, d_both: 58, d_a: 3, d_b: 14, d_none: 5, h_both: 4, h_a: 3, h_b: 9, h_none: 64 };
const MATRIX = ["cells", "rows", "table", "pos_label"];
const MODEL = ["model", "prior", "ci_prob", "ci_kind"]; // behind a line that opens them
const FIVE = "recall, specificity, precision, accuracy, mcc.";
const TABS = {
  summary: ["How uncertain is it?", [...MATRIX, "unit", "prevalence", "metrics", ...MODEL], "the usual ones of a test; of more classes all in common use."],
  region: ["Where on the PR or ROC plane?", [...MATRIX, "space", "method", "ci_prob"]],
  curves: ["How good are the scores?", ["scores", "pos_label", "space", "metric", "ci_prob"]],
  folds: ["How good over folds?", ["folded", "pooling", "metrics", "prior", "ci_prob"], FIVE],
  compare: ["Is A better than B?", ["pairs", "rows", "rivals", "pos_label", "unit", "metrics", "rope", ...MODEL], "sensitivity and specificity of the eight numbers, accuracy of a table."],
  items: ["How many items do I need?", ["metrics", "width", "mode", "concentration", "assurance", "prevalence", ...MODEL], "accuracy."],
  prevalences: ["What at another prevalence?", [...MATRIX, "at", "view", "model", "prior", "ci_prob"]],
  replicate: ["Will it replicate?", [...MATRIX, "n_items", "claim", "metrics", ...MODEL], FIVE],
  leaderboard: ["Who leads?", ["systems", "metric", "unit", "ci_prob"]],
  synthesis: ["What do studies say together?", ["studies", "ci_prob"]],
  gaps: ["How far are groups apart?", ["groups", "ci_prob"]],
  agreement: ["Do raters agree?", ["ratings", "pos_label", "metrics", "ci_prob"], "accuracy, krippendorff_alpha, gwets_ac1, scotts_pi."],
  reported: ["Can this be true?", ["printed", "printed_items", "positives"]],
};
const QUICK = 150; // milliseconds without a keystroke until a question is asked whose answer takes less
const SLOW = 700; // of draws, and of tables that may be long
const PICTURE = 250; // more until the picture is drawn, which takes longer than the numbers
const PATIENCE = 2000; // milliseconds until it is said that an answer takes longer
const SENT = { systems: "table", scores: "table", folded: "table", rivals: "table", studies: "table", groups: "table", ratings: "table", printed_items: "n_items" };
const sentAs = (name) => SENT[name] ?? name;
const values = { ...EXAMPLES, ...Object.fromEntries(Object.entries(FIELDS).map(([name, [, value]]) => [name, value])) };
let tab = "summary";
let shown = null; // an answer with what was sent for it
let wanted = null; // what is to be asked next; only the newest counts
let busy = false;
let timer;

const inForm = (name) => GRIDS[name]?.names.flat() ?? [name];
const names = () => TABS[tab][1].flatMap(inForm);
const isTable = (name) => ["table", "rivals", "pos_label", "unit"].includes(name) && TABS[tab][1].some((one) => one in GRIDS);
const isFolded = (name) => MODEL.includes(name) || isTable(name);

function entry(name) {
  if (name in GRIDS) return grid(name, values.rows);
  const [label, value, about, kind] = FIELDS[name];
  return field(name, [label, value, about + (name === "metrics" ? TABS[tab][2] : ""), kind]);
}

function form() {
  const all = TABS[tab][1];
  const fold = (title, kept) => (kept.length ? folded(title, kept.map(entry).join(""), kept.some((name) => values[name] !== FIELDS[name][1])) : "");
  const rest = all.filter((name) => !isFolded(name)).map(entry).join("");
  byId("form").innerHTML = `<fieldset><legend>${escape(TABS[tab][0])}</legend>${rest}</fieldset>${fold("Instead: a table or a file", all.filter(isTable))}${fold("Model, prior and intervals", all.filter((name) => MODEL.includes(name)))}<button class="main" type="submit">Answer</button>`;
  byId("panel").setAttribute("aria-labelledby", `tab-${tab}`);
  refill();
  for (const name of all) if (FIELDS[name]?.[3] === "area") takeFiles(name);
}

function refill() {
  for (const name of names()) byId(name).value = values[name];
  margins();
}

function typed({ target }) {
  if (!(target.name in values)) return;
  values[target.name] = target.value;
  if (target.name === "rows" && byId("grid")) {
    byId("grid").outerHTML = grid(TABS[tab][1].find((name) => name in GRIDS), values.rows);
    refill();
  }
  margins();
  stale("Of what was typed before ...");
  clearTimeout(timer);
  timer = setTimeout(() => ask(), ["summary", "region", "prevalences"].includes(tab) && !values.table ? QUICK : SLOW);
}

function takeFiles(name) {
  const put = async (file) => {
    if (!file) return;
    if (file.size > 1e6) return explain({ [name]: "At most 1 MB here; the command line takes more." }, true);
    try {
      values[name] = byId(name).value = /\.xlsx$/i.test(file.name) ? await fromSheet(file) : await file.text();
    } catch (problem) {
      return explain({ [name]: problem.message }, true);
    }
    return ask(true);
  };
  byId(`${name}-file`).addEventListener("change", (event) => put(event.target.files[0]));
  const box = byId(`${name}-box`);
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
  if (focus) byId(`tab-${name}`).focus();
  ask();
}

function refuse({ field: named, message }, entered) {
  const name = names().find((one) => [named, `${named}s`].includes(sentAs(one)));
  explain(name ? { [name]: message } : {}, entered);
  byId("problem").textContent = name ? "" : message;
  byId("problem").hidden = Boolean(name);
  stale(byId("filled").hidden ? "" : "Of what was typed before: a field needs another look.");
  announce(message, entered ? 0 : undefined);
}

const body = () => JSON.stringify(Object.fromEntries(names().map((name) => [sentAs(name), String(values[name])])));
const post = (path, sent) => fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: sent });

/** Ask what is typed; where a question is under way, after it, and only the newest. */
async function ask(entered = false) {
  clearTimeout(timer);
  wanted = { tab, sent: body(), entered };
  byId("result").setAttribute("aria-busy", "true");
  stale("Computing ...");
  byId("said").textContent = "";
  history.replaceState(null, "", `#${new URLSearchParams({ tab, ...JSON.parse(wanted.sent) })}`);
  if (busy) return;
  busy = true;
  while (wanted) {
    const one = wanted;
    wanted = null;
    await settle(one);
  }
  busy = false;
}

async function settle(one) {
  const late = setTimeout(() => {
    stale("Still computing. The first answers after a start take longer, and so do many systems or items ...");
    announce(byId("state").textContent, 0);
  }, PATIENCE);
  try {
    let response;
    do response = await post(`/api/${one.tab}`, one.sent); while (response.status === 503 && !wanted); // it is computed on
    const found = await response.json();
    if (wanted) return;
    if (response.ok) present(found, one);
    else refuse(found, one.entered);
  } catch {
    refuse({ field: "", message: "The server of this page doesn't answer; start it again: bayescm app" }, true);
  } finally {
    clearTimeout(late);
    if (!wanted) byId("result").setAttribute("aria-busy", "false");
  }
  if (shown === null || shown.sent !== one.sent || shown.tab !== one.tab) return;
  if (!one.entered) await new Promise((done) => { setTimeout(done, PICTURE); });
  if (wanted) return;
  const picture = await post(`/api/${one.tab}/svg`, one.sent);
  if (!picture.ok || wanted || one.tab !== tab) return;
  URL.revokeObjectURL(byId("picture").src);
  byId("picture").src = URL.createObjectURL(await picture.blob());
  byId("picture").alt = shown.sentence;
  byId("figure").hidden = false;
  byId("figure").removeAttribute("data-stale");
}

function present(found, one) {
  const first = byId("filled").hidden;
  shown = { ...found, ...one };
  explain({}, false);
  byId("problem").hidden = true;
  byId("sentence").textContent = found.sentence;
  byId("notes").textContent = found.notes.join(" ");
  byId("notes").hidden = !found.notes.length;
  byId("numbers").innerHTML = found.table;
  byId("code").textContent = found.code;
  byId("assumed").textContent = found.assumptions;
  byId("words").innerHTML = found.words.map(([word, meaning]) => `<dt>${escape(word)}</dt><dd>${escape(meaning)}</dd>`).join("");
  byId("filled").hidden = false;
  if (first) byId("figure").hidden = true;
  byId("figure").setAttribute("data-stale", ""); // until the new one is there
  stale(body() === one.sent ? "" : "Of what was typed before ...");
  announce([found.sentence, ...found.notes].join(" "), one.entered ? 0 : undefined);
}

async function saveAs(kind) {
  const { tab: of, sent } = shown;
  const response = await post(`/api/${of}/${kind}`, sent);
  if (response.ok) save(await response.blob(), `bayescm-${of}.${kind}`);
  else refuse(await response.json(), true);
}

const copied = (what) => ({ csv: () => shown.csv, json: () => JSON.stringify(shown, null, 1), code: () => shown.code, link: () => location.href })[what]();

function start() {
  const given = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  if (given.tab in TABS) tab = given.tab;
  for (const name of names()) values[name] = given[sentAs(name)] ?? values[name];
  byId("form").addEventListener("input", typed);
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    ask(true);
  });
  byId("tabs").addEventListener("keydown", (event) => {
    const order = Object.keys(TABS);
    const at = order.indexOf(tab);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    open(order.at(to % order.length), true);
  });
  buttons();
  for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copy(copied(button.dataset.copy), byId("code")));
  for (const button of document.querySelectorAll("[data-save]")) button.addEventListener("click", () => saveAs(button.dataset.save));
  open(tab);
}

start();
