// The page without a server: reads the form, shows the answer as one types, keeps the state in the link.

import { ASSUMED, answer, called, cells, csv, estimate, json, percent, python, read, sentence, show } from "./answers.mjs";
import { CELLS, SHARED, announce, buttons, byId, copy, escape, explain, field, folded, grid, margins, stale } from "./common.mjs";
import { nomogram } from "./nomogram.mjs";

const FIELDS = {
  at: ["Prevalence where it will be used", "", "Share of positives there, such as 2%, for predictive values and accuracy. Empty: none."],
  ciProb: SHARED.ci_prob, ciKind: SHARED.ci_kind,
  prior: ["Prior", "jeffreys", "What is added to each count, as if seen before.", { jeffreys: "Jeffreys: half an item", laplace: "flat (Laplace): one item", number: "a number of items" }],
  strength: ["Items added to each count", "1"], model: SHARED.model, rows: SHARED.rows,
};
const MODEL = ["model", "prior", "strength", "ciProb", "ciKind"]; // behind a line that opens them
const NAMES = [...CELLS, ...Object.keys(FIELDS)];
const DEFAULTS = { tp: "", fn: "", fp: "", tn: "", ...Object.fromEntries(Object.entries(FIELDS).map(([name, [, value]]) => [name, value])) };
const EXAMPLE = { ...DEFAULTS, tp: "26", fn: "0", fp: "2", tn: "6", at: "2%", prior: "laplace", model: "three_binomial" };
const CURVE = { width: 360, height: 150, left: 12, right: 12, top: 8, bottom: 24, points: 160 };
const QUICK = 150; // milliseconds without a keystroke until it is answered
let last = null;
let timer;

const typed = () => Object.fromEntries(NAMES.map((name) => [name, byId(name).value]));

function fill(values) {
  const one = (name) => field(name, FIELDS[name]);
  const settings = MODEL.some((name) => values[name] !== DEFAULTS[name]);
  byId("form").innerHTML = `<fieldset><legend>How many items were</legend>${grid("cells", values.rows)}${one("rows")}${one("at")}</fieldset>${folded("Model, prior and intervals", MODEL.map(one).join(""), settings)}<button class="main" type="submit">Answer</button><button type="button" id="example">Example</button>`;
  for (const name of NAMES) byId(name).value = values[name];
  byId("strength-box").hidden = values.prior !== "number";
  byId("example").addEventListener("click", () => {
    fill(EXAMPLE);
    byId("example").focus();
    update(true);
  });
  margins();
}

function table({ rows, elsewhere, settings }) {
  const body = (of) => cells(of).map((numbers, i) => `<tr><td>${escape(called(of[i].metric))}</td>${of[i].how === "" ? `<td>${numbers[0]}</td><td colspan="3">interval: in Python only</td>` : numbers.map((text) => `<td>${escape(text)}</td>`).join("")}${settings.ciKind === "eti" ? "" : `<td>${of[i].ciKind.toUpperCase()}</td>`}</tr>`);
  const columns = ["point", "mean", "lower", "upper", ...(settings.ciKind === "eti" ? [] : ["kind"])];
  const part = (what, of) => (of.length ? `<thead><tr>${[what, ...columns].map((text) => `<th scope="col">${escape(text)}</th>`).join("")}</tr></thead><tbody>${body(of).join("")}</tbody>` : "");
  return `<table>${part(`metric (${percent(settings.ciProb)} intervals)`, rows)}${part(`where ${percent(settings.at)} are positive`, elsewhere)}</table>`;
}

/** The density of one row as SVG. */
function picture(found, title) {
  const { width, height, left, right, top, bottom, points } = CURVE;
  const { distribution, lower, upper, point } = found;
  const [from, to] = distribution.support;
  const room = Math.max((upper - lower) * 0.8, 1e-9);
  const [low, high] = [Math.max(from, lower - room), Math.min(to, upper + room)];
  const xs = Array.from({ length: points }, (_, i) => low + ((i + 0.5) / points) * (high - low));
  const ys = xs.map((x) => distribution.density(x)).map((y) => (Number.isFinite(y) ? y : 0));
  const most = Math.min(Math.max(...ys), 4 * [...ys].sort((a, b) => a - b)[Math.floor(points * 0.8)] || Infinity);
  const at = (x) => left + ((x - low) / (high - low)) * (width - left - right);
  const up = (y) => height - bottom - (Math.min(y, most) / most) * (height - top - bottom);
  const line = (keep) => xs.map((x, i) => (keep(x) ? `${at(x).toFixed(1)},${up(ys[i]).toFixed(1)}` : "")).filter(Boolean);
  const closed = (list) => (list.length ? `${list[0].split(",")[0]},${up(0)} ${list.join(" ")} ${list.at(-1).split(",")[0]},${up(0)}` : "");
  const labels = [low, (low + high) / 2, high].map((x, i) => `<text x="${at(x)}" y="${height - 6}" text-anchor="${["start", "middle", "end"][i]}">${show(x, high - low < 0.01 ? 5 : 2)}</text>`);
  const dash = point >= low && point <= high ? `<line class="point" x1="${at(point)}" x2="${at(point)}" y1="${top}" y2="${height - bottom}"/>` : "";
  const said = `${title}: ${estimate(found, last.settings.ciProb)}`;
  return `<figure><figcaption>${escape(title)}</figcaption><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(said)}"><polygon class="area" points="${closed(line(() => true))}"/><polygon class="inside" points="${closed(line((x) => x >= lower && x <= upper))}"/><polyline class="curve" points="${line(() => true).join(" ")}"/><line class="axis" x1="${left}" x2="${width - right}" y1="${height - bottom}" y2="${height - bottom}"/>${dash}${labels.join("")}</svg></figure>`;
}

function pictures(found) {
  const drawn = (rows, more) => rows.filter((one) => one.distribution).map((one) => picture(one, called(one.metric) + more));
  return [...drawn(found.rows, ""), ...drawn(found.elsewhere, ` where ${percent(found.settings.at ?? 0)} are positive`)].join("");
}

/** Both results of the test at the prevalence where it will be used, with their likelihood ratios. */
function fagan({ rows, elsewhere, settings }) {
  if (!elsewhere.length) return "";
  const ratios = ["positive", "negative"].map((name) => rows.find(({ metric }) => metric === `${name}_likelihood_ratio`));
  const [ppv, npv] = elsewhere.map((row) => ({ ...row, middle: row.distribution.quantile(0.5) }));
  const results = [
    { name: "positive", ...ppv }, { name: "negative", middle: 1 - npv.middle, point: 1 - npv.point, lower: 1 - npv.upper, upper: 1 - npv.lower },
  ];
  const lines = results.map((one, i) => `<p class="help"><span class="key result${i}"></span>A ${one.name} result: likelihood ratio ${escape(estimate(ratios[i]))}; after it ${escape(estimate(one))}.</p>`);
  return `<figure class="tall"><figcaption>How probable a positive is: ${percent(settings.at)} before the test</figcaption>${lines.join("")}${nomogram(settings.at, results)}</figure>`;
}

function present(settings, entered) {
  const found = (last = answer(settings));
  byId("sentence").textContent = sentence(found);
  byId("table").innerHTML = table(found);
  byId("python").textContent = python(settings);
  byId("assumed").textContent = `Assumes: ${ASSUMED}.`;
  byId("filled").hidden = false;
  byId("fagan").innerHTML = fagan(found);
  stale("");
  announce(byId("sentence").textContent, entered ? 0 : undefined);
  setTimeout(() => { // the numbers first
    if (last === found) byId("pictures").innerHTML = pictures(found);
    byId("result").setAttribute("aria-busy", "false");
  }, 0);
}

/** Answer what is typed; what is still empty is wrong only where somebody asks by Enter. */
function update(entered = false) {
  clearTimeout(timer);
  const values = typed();
  const { settings, errors } = read(values);
  const said = Object.fromEntries(Object.entries(errors).filter(([name]) => entered || values[name].trim() !== ""));
  explain(said, entered);
  history.replaceState(null, "", `#${new URLSearchParams(values)}`);
  byId("said").textContent = "";
  if (Object.keys(errors).length) {
    const missing = Object.keys(said).length ? "a field needs another look" : "a number is missing";
    stale(byId("filled").hidden ? "" : `Of what was typed before: ${missing}.`);
    announce(Object.values(said).join(" "), entered ? 0 : undefined);
    byId("result").setAttribute("aria-busy", "false");
    return;
  }
  stale("Computing ...");
  setTimeout(() => present(settings, entered), 0);
}

const copied = (what) => ({ csv: () => csv(last), json: () => json(last), python: () => python(last.settings), link: () => location.href })[what]();

function start() {
  const given = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  fill({ ...DEFAULTS, ...given });
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    update(true);
  });
  byId("form").addEventListener("input", ({ target }) => {
    if (target.name === "rows") {
      fill(typed());
      byId("rows").focus();
    }
    byId("strength-box").hidden = byId("prior").value !== "number";
    margins();
    byId("result").setAttribute("aria-busy", "true");
    if (last) stale("Of what was typed before ...");
    clearTimeout(timer);
    timer = setTimeout(() => update(), QUICK);
  });
  buttons();
  addEventListener("beforeprint", () => { byId("words").open = true; });
  for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copy(copied(button.dataset.copy), byId("python")));
  if (CELLS.some((cell) => given[cell])) update();
}

start();
