// The local page: a tab per question, a form made of fields, answers from the server on this machine as one types.

import { GRIDS, SHARED, announce, buttons, byId, copy, escape, explain, field, folded, grid, margins, save, stale } from "./common.mjs";
import page from "./tabs.json" with { type: "json" }; // a module's import, so that the form stands when the page is loaded

const { counts, fields, tabs: TABS } = page;
const FIELDS = { ...SHARED, ...fields }; // each: label, what stands there at first, what it means, and its kind
const MODEL = ["model", "prior", "ci_prob", "ci_kind"]; // behind a line that opens them
const QUICK = 150; // milliseconds without a keystroke until a question is asked whose answer takes less
const SLOW = 700; // of draws, and of tables that may be long
const PICTURE = 250; // more until the picture is drawn, which takes longer than the numbers
const PATIENCE = 2000; // milliseconds until it is said that an answer takes longer
const sentAs = (name) => (FIELDS[name]?.[3] === "area" ? "table" : name);
const values = { ...counts, ...Object.fromEntries(Object.entries(FIELDS).map(([name, [, value]]) => [name, value])) };
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
  if (wanted || one.tab !== tab) return;
  byId("figure").hidden = !picture.ok;
  if (!picture.ok) return;
  URL.revokeObjectURL(byId("picture").src);
  byId("picture").src = URL.createObjectURL(await picture.blob());
  byId("picture").alt = shown.sentence;
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
