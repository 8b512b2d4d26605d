// What both pages do alike: fields and grids of a form, what is live in them, what is copied and read out.

export const byId = (id) => document.getElementById(id);
export const escape = (text) => String(text).replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

export const CELLS = ["tp", "fn", "fp", "tn"];
const TRUTH = { name: "Truth", sides: ["Diseased", "Healthy"], less: ["actual positive", "actual negative"] };
/** Grids of counts: names of their fields by truth and result, and what stands above each field. */
export const GRIDS = {
  cells: { names: [["tp", "fn"], ["fp", "tn"]], results: { name: "Test", sides: ["Test positive", "Test negative"], less: ["", ""] }, about: "Diseased: has what the test looks for. For a classifier: of the positive class." },
  pairs: {
    names: [["d_both", "d_a", "d_b", "d_none"], ["h_both", "h_a", "h_b", "h_none"]],
    results: { name: "Tests", sides: ["Both positive", "Only A positive", "Only B positive", "Both negative"], less: ["", "", "", ""] },
    about: "How many patients, or items, were given which answers by two tests, A and B.",
  },
};
/** Fields of both pages: label, what stands there first, what it means, and the choices. */
export const SHARED = {
  rows: ["Rows are", "truth", "", { truth: "the truth", test: "the test's results" }],
  model: ["Model", "dirichlet_multinomial", "One prior on the four counts together, or one each on prevalence, sensitivity and specificity.", { dirichlet_multinomial: "one sample (Dirichlet)", three_binomial: "separate rates (binomials)" }],
  ci_prob: ["Level of the intervals", "0.95", "How sure: the value lies inside with this probability, such as 0.95 or 95%."],
  ci_kind: ["Kind of interval", "eti", "ETI: as much left out below as above. HDI: the shortest one.", { eti: "equal tails (ETI)", hdi: "highest density (HDI)" }],
};

/** A field with its label, its meaning and the place of its error. */
export function field(name, [label, , about = "", kind]) {
  const common = `id="${name}" name="${name}" aria-describedby="${about ? `${name}-help ` : ""}${name}-error"`;
  const options = Object.entries(typeof kind === "object" ? kind : {}).map(([value, text]) => `<option value="${value}">${escape(text)}</option>`);
  const entry = kind === "area" ? `<textarea ${common} spellcheck="false"></textarea><input type="file" id="${name}-file" accept=".csv,.tsv,.txt,.xlsx" aria-label="File: CSV or xlsx" aria-describedby="${name}-error">`
    : options.length ? `<select ${common}>${options.join("")}</select>` : `<input ${common} autocomplete="off">`;
  return `<div id="${name}-box"${kind === "area" ? ' class="drop"' : ""}><label for="${name}">${escape(label)}</label>${entry}${about ? `<p class="help" id="${name}-help">${escape(about)}</p>` : ""}<p class="error" id="${name}-error" hidden></p></div>`;
}

/** A grid of counts with its margins, the truth in its rows or the results of the test. */
export function grid(kind, rowsAre) {
  const { names, results, about } = GRIDS[kind];
  const turned = rowsAre === "test";
  const [rows, columns] = turned ? [results, TRUTH] : [TRUTH, results];
  const at = (i, j) => (turned ? names[j][i] : names[i][j]);
  const head = (scope, { sides, less }, i) => `<th scope="${scope}">${sides[i]}${less[i] ? `<small>${less[i]}</small>` : ""}</th>`;
  const sum = (of) => `<td class="sum" data-sum="${of.join(" ")}"></td>`;
  const cell = (i, j) => {
    const [name, where] = [at(i, j), `${rows.sides[i]}, ${columns.sides[j]}`.toLowerCase()];
    const label = kind === "cells" ? `${name.toUpperCase()}<span class="sr">, ${where}</span>` : `<span class="sr">${where}</span>`;
    return `<td><label for="${name}">${label}</label><input id="${name}" name="${name}" inputmode="numeric" autocomplete="off" aria-describedby="${name}-error"></td>`;
  };
  const places = [...columns.sides.keys()];
  const lines = rows.sides.map((_, i) => `<tr>${head("row", rows, i)}${places.map((j) => cell(i, j)).join("")}${sum(places.map((j) => at(i, j)))}</tr>`);
  const total = places.map((j) => sum(rows.sides.map((_, i) => at(i, j)))).join("") + sum(names.flat());
  const errors = rows.sides.flatMap((row, i) => columns.sides.map((column, j) => `<p class="error" id="${at(i, j)}-error" data-of="${kind === "cells" ? at(i, j).toUpperCase() : `${row}, ${column}`}" hidden></p>`));
  return `<div id="grid" class="wide"><table class="grid ${kind}"><tr><td class="corner">${rows.name} \\ ${columns.name}</td>${places.map((j) => head("col", columns, j)).join("")}<th scope="col">Total</th></tr>${lines.join("")}<tr><th scope="row">Total</th>${total}</tr></table>${errors.join("")}<p class="help">${about}</p></div>`;
}

/** Write the margins of what is typed, empty where a number is missing. */
export function margins() {
  for (const place of document.querySelectorAll("[data-sum]")) {
    const typed = place.dataset.sum.split(" ").map((name) => byId(name).value.trim());
    place.textContent = typed.every((text) => /^\d{1,15}$/.test(text)) ? typed.reduce((sum, text) => sum + Number(text), 0).toLocaleString("en") : "";
  }
}

/** Fields behind a line that opens them. */
export const folded = (title, inside, open) => `<details${open ? " open" : ""}><summary>${escape(title)}</summary><fieldset aria-label="${escape(title)}">${inside}</fieldset></details>`;

/** Show what is wrong with fields, {name: message}; focus the first only where somebody asked by Enter. */
export function explain(errors, focus) {
  for (const place of document.querySelectorAll("form .error")) {
    const name = place.id.replace(/-error$/, "");
    place.textContent = errors[name] ?? "";
    place.hidden = !(name in errors);
    byId(name).toggleAttribute("aria-invalid", false);
    if (name in errors) {
      byId(name).setAttribute("aria-invalid", "true");
      byId(name).closest("details")?.setAttribute("open", "");
    }
  }
  if (focus) document.querySelector("form [aria-invalid]")?.focus();
}

/** Mark an answer as that of what was typed before, and say why; an empty text says that it is current. */
export function stale(why) {
  byId("result").toggleAttribute("data-stale", why !== "");
  byId("state").textContent = why;
}

let reading;
/** Let a screen reader say a text after a pause, in which nothing else was to be said. */
export function announce(text, pause = 1500) {
  clearTimeout(reading);
  reading = setTimeout(() => { byId("announced").textContent = text; }, pause);
}

/** Copy a text; where the browser refuses, show it instead, to be copied by hand. */
export async function copy(text, place) {
  try {
    await navigator.clipboard.writeText(text);
    byId("said").textContent = "Copied.";
  } catch {
    place.textContent = text;
    byId("said").textContent = "Select it below to copy it.";
  }
}

/** Let the first link lead to the answer, which keeps what was typed in the address, and print. */
export function buttons() {
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("result").focus();
  });
  byId("print").addEventListener("click", () => print());
}

/** Save a file from what is in memory. */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
