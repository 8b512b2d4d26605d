// The page: reads the form, shows the answer, keeps the state in the link.

import { ASSUMED, CALLED, CELLS, answer, csv, json, percent, python, read, sentence, show } from "./answers.mjs";
import { byId, copy, escape, skip } from "./common.mjs";
import { nomogram } from "./nomogram.mjs";

const FIELDS = [...CELLS, "at", "ciProb", "ciKind", "prior", "strength", "model"];
const DEFAULTS = { tp: "", fn: "", fp: "", tn: "", at: "", ciProb: "0.95", ciKind: "eti", prior: "jeffreys", strength: "1", model: "dirichlet_multinomial" };
const EXAMPLE = { ...DEFAULTS, tp: "26", fn: "0", fp: "2", tn: "6", at: "2%", prior: "laplace", model: "three_binomial" };
const CURVE = { width: 360, height: 150, left: 12, right: 12, top: 8, bottom: 24, points: 160 };
let last = null;

const typed = () => Object.fromEntries(FIELDS.map((name) => [name, byId(name).value]));

function fill(values) {
  for (const name of FIELDS) byId(name).value = values[name] ?? DEFAULTS[name];
  byId("strength-box").hidden = byId("prior").value !== "number";
}

function explain(errors) {
  for (const name of FIELDS) {
    const place = byId(`${name}-error`);
    place.textContent = errors[name] ?? "";
    place.hidden = !(name in errors);
    byId(name).setAttribute("aria-invalid", String(name in errors));
  }
}

function row(found) {
  const cell = (text) => `<td>${escape(text)}</td>`;
  const interval = Number.isNaN(found.lower) ? "in Python only" : [found.lower, found.upper].map((x) => show(x, found.lower, found.upper)).join(" to ");
  const numbers = [found.point, found.mean].map((x) => (found.how === "" && x !== found.point ? "" : show(x, found.lower, found.upper)));
  return `<tr><td>${escape(CALLED[found.metric])}</td>${[interval, ...numbers, found.ciKind.toUpperCase()].map(cell).join("")}</tr>`;
}

function table(found) {
  const head = (what) => `<thead><tr><th scope="col">${escape(what)}</th><th scope="col">${escape(percent(found.settings.ciProb))} interval</th><th scope="col">measured</th><th scope="col">mean</th><th scope="col">kind</th></tr></thead>`;
  const parts = [head("Metric"), `<tbody>${found.rows.map(row).join("")}</tbody>`];
  if (found.elsewhere.length) parts.push(head(`Where ${percent(found.settings.at)} are positive`), `<tbody>${found.elsewhere.map(row).join("")}</tbody>`);
  return `<table>${parts.join("")}</table>`;
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
  const ticks = [low, (low + high) / 2, high];
  const labels = ticks.map((x, i) => `<text x="${at(x)}" y="${height - 6}" text-anchor="${["start", "middle", "end"][i]}">${show(x, low, high)}</text>`);
  const dash = point >= low && point <= high ? `<line class="point" x1="${at(point)}" x2="${at(point)}" y1="${top}" y2="${height - bottom}"/>` : "";
  const said = `${title}: ${percent(last.settings.ciProb)} from ${show(lower, lower, upper)} to ${show(upper, lower, upper)}`;
  return `<figure><figcaption>${escape(title)}</figcaption><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(said)}"><polygon class="area" points="${closed(line(() => true))}"/><polygon class="inside" points="${closed(line((x) => x >= lower && x <= upper))}"/><polyline class="curve" points="${line(() => true).join(" ")}"/><line class="axis" x1="${left}" x2="${width - right}" y1="${height - bottom}" y2="${height - bottom}"/>${dash}${labels.join("")}</svg></figure>`;
}

function pictures(found) {
  const drawn = (rows, more) => rows.filter((one) => one.distribution).map((one) => picture(one, CALLED[one.metric] + more));
  return [...drawn(found.rows, ""), ...drawn(found.elsewhere, ` where ${percent(found.settings.at ?? 0)} are positive`)].join("");
}

/** Both results of the test at the prevalence where it will be used. */
function fagan({ elsewhere, settings }) {
  if (!elsewhere.length) return "";
  const [ppv, npv] = elsewhere.map((row) => ({ ...row, middle: row.distribution.quantile(0.5) }));
  const results = [
    { name: "positive", ...ppv }, { name: "negative", middle: 1 - npv.middle, lower: 1 - npv.upper, upper: 1 - npv.lower },
  ];
  const said = results.map(({ name, middle, lower, upper }) => `after a ${name} result ${[middle, lower, upper].map((x) => show(x, lower, upper)).join(", ").replace(/, (.*), (.*)/, " ($1 to $2)")}`);
  return `<figure class="tall"><figcaption>How probable a positive is, by median and interval: ${percent(settings.at)} before the test, ${escape(said.join(", "))}</figcaption>${nomogram(settings.at, results)}</figure>`;
}

function present(settings) {
  const found = (last = answer(settings));
  byId("sentence").textContent = sentence(found);
  byId("table").innerHTML = table(found);
  byId("python").textContent = python(settings);
  byId("assumed").textContent = `Assumes: ${ASSUMED}.`;
  byId("filled").hidden = false;
  byId("pictures").innerHTML = "";
  setTimeout(() => { // the numbers first
    if (last === found) byId("pictures").innerHTML = pictures(found) + fagan(found);
    byId("result").setAttribute("aria-busy", "false");
  }, 0);
}

function update() {
  const values = typed();
  const { settings, errors } = read(values);
  explain(errors);
  history.replaceState(null, "", `#${new URLSearchParams(values)}`);
  byId("said").textContent = "";
  if (Object.keys(errors).length) {
    byId("sentence").textContent = "Some fields need another look.";
    byId("filled").hidden = true;
    byId(FIELDS.find((name) => name in errors)).focus();
    return;
  }
  byId("sentence").textContent = "Computing ...";
  byId("result").setAttribute("aria-busy", "true");
  setTimeout(() => present(settings), 0);
}

const copied = (what) => ({ csv: () => csv(last), json: () => json(last), python: () => python(last.settings), link: () => location.href })[what]();

function start() {
  const given = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  fill({ ...DEFAULTS, ...given });
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    update();
  });
  byId("prior").addEventListener("change", () => {
    byId("strength-box").hidden = byId("prior").value !== "number";
  });
  byId("example").addEventListener("click", () => {
    fill(EXAMPLE);
    update();
  });
  skip();
  byId("print").addEventListener("click", () => print());
  addEventListener("beforeprint", () => { byId("words").open = true; });
  for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copy(copied(button.dataset.copy), byId("python")));
  if (CELLS.every((cell) => given[cell])) update();
}

start();
