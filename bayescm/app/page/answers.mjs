// From four numbers to answers: the distributions of the metrics, and what the library would write of them.

import { CELLS } from "./common.mjs";
import { accuracyAt, beta, informedness, interval, likelihoodRatio, predictiveValue, uncertainPredictiveValue } from "./distributions.mjs";

export const MODELS = ["dirichlet_multinomial", "three_binomial"];
export const PRIORS = { jeffreys: 0.5, laplace: 1 };
export const MOST = 1e8;
const LEAST_PRIOR = 0.1;
const MOST_PRIOR = 1000;

/** Names of the metrics as the library is asked for them, and as its sentences call them. */
export const METRICS = {
  recall: ["sensitivity", "sensitivity (recall)"], specificity: ["specificity", "specificity"],
  precision: ["ppv", "ppv (precision)"], negative_predictive_value: ["npv", "npv (negative predictive value)"],
  positive_likelihood_ratio: ["lr+", "lr+ (positive likelihood ratio)"], negative_likelihood_ratio: ["lr-", "lr- (negative likelihood ratio)"],
  accuracy: ["accuracy", "accuracy"], prevalence: ["prevalence", "prevalence"], informedness: ["informedness", "informedness"],
};
export const called = (metric) => METRICS[metric][1];

/** Read what was typed; errors by the name of their field. */
export function read(typed) {
  const errors = {};
  const settings = { model: typed.model, ciKind: typed.ciKind };
  for (const cell of CELLS) {
    const text = String(typed[cell] ?? "").trim();
    if (!/^\d+$/.test(text)) errors[cell] = `Write a whole number of items, 0 if there were none; got "${text}".`;
    else if (Number(text) > MOST) errors[cell] = `At most ${MOST.toLocaleString("en")} here; the Python library takes more.`;
    else settings[cell] = Number(text);
  }
  const number = (name, low, high, what, closed = false) => {
    const text = String(typed[name] ?? "").trim();
    const value = Number(text.endsWith("%") ? text.slice(0, -1) : text) / (text.endsWith("%") ? 100 : 1);
    const inside = closed ? value >= low && value <= high : value > low && value < high;
    if (text === "" || !Number.isFinite(value) || !inside) errors[name] = `${what}; got "${text}".`;
    else settings[name] = value;
  };
  if (typed.prior === "number") {
    number("strength", LEAST_PRIOR, MOST_PRIOR, `A number from ${LEAST_PRIOR} to ${MOST_PRIOR}, added to every cell`, true);
    settings.prior = settings.strength;
  } else if (typed.prior in PRIORS) {
    settings.prior = typed.prior;
    settings.strength = PRIORS[typed.prior];
  } else errors.prior = "One of the priors in the list.";
  if (!MODELS.includes(typed.model)) errors.model = "One of the models in the list.";
  if (!["hdi", "eti"].includes(typed.ciKind)) errors.ciKind = "One of the two kinds.";
  number("ciProb", 0.01, 0.999999, "A level between 0.01 and 0.999999, such as 0.95 or 95%", true);
  if (String(typed.at ?? "").trim() === "") settings.at = null;
  else number("at", 0, 1, "A share above 0 and below 1, such as 0.02 or 2%, or nothing");
  return { settings, errors };
}

/** The Betas behind the counts. */
export function concentrations({ tp, fn, fp, tn, strength, model }) {
  const whole = model === "dirichlet_multinomial" ? 2 * strength : strength;
  return {
    recall: [tp + strength, fn + strength],
    specificity: [tn + strength, fp + strength],
    prevalence: [tp + fn + whole, fp + tn + whole],
    precision: [tp + strength, fp + strength],
    negative_predictive_value: [tn + strength, fn + strength],
    accuracy: [tp + tn + 2 * strength, fp + fn + 2 * strength],
  };
}

const ratio = (over, other) => (over + other > 0 ? over / (over + other) : NaN);

/** Values of the counts themselves. */
export function points({ tp, fn, fp, tn }) {
  const [recall, specificity, fallout] = [ratio(tp, fn), ratio(tn, fp), ratio(fp, tn)];
  return {
    recall, specificity, precision: ratio(tp, fp), negative_predictive_value: ratio(tn, fn),
    positive_likelihood_ratio: recall / fallout, negative_likelihood_ratio: ratio(fn, tp) / specificity,
    accuracy: ratio(tp + tn, fp + fn), prevalence: ratio(tp + fn, fp + tn), informedness: recall - fallout,
  };
}

/** The posterior distribution of every metric, made when it is asked for; null where the page has none. */
export function distributionsOf(settings) {
  const known = concentrations(settings);
  const whole = settings.model === "dirichlet_multinomial";
  const { recall, specificity } = known;
  const swapped = (pair) => [pair[1], pair[0]];
  return {
    recall: () => beta(...recall),
    specificity: () => beta(...specificity),
    precision: () => (whole ? beta(...known.precision) : uncertainPredictiveValue(recall, specificity, known.prevalence)),
    negative_predictive_value: () =>
      whole ? beta(...known.negative_predictive_value) : uncertainPredictiveValue(specificity, recall, swapped(known.prevalence)),
    positive_likelihood_ratio: () => likelihoodRatio(recall, specificity),
    negative_likelihood_ratio: () => likelihoodRatio(swapped(recall), swapped(specificity)),
    accuracy: () => (whole ? beta(...known.accuracy) : null),
    prevalence: () => beta(...known.prevalence),
    informedness: () => informedness(recall, specificity),
  };
}

/** One row of the answer. */
function rowOf(metric, point, distribution, { ciProb, ciKind }) {
  if (distribution === null) return { metric, point, mean: NaN, lower: NaN, upper: NaN, ciKind: "", how: "" };
  const { kind, mean } = distribution;
  return { metric, point, mean, ...interval(distribution, ciProb, ciKind), how: kind, distribution };
}

/** Every metric with its interval, and the probability of being worse than chance. */
export function answer(settings) {
  const point = points(settings);
  const made = distributionsOf(settings);
  const rows = Object.keys(made).map((metric) => rowOf(metric, point[metric], made[metric](), settings));
  const deceptive = rows.find((row) => row.metric === "informedness").distribution.tails(0)[0];
  return { rows, deceptive, elsewhere: settings.at === null ? [] : atPrevalence(settings), settings };
}

/** Both predictive values, and accuracy, where the prevalence is known to be another. */
export function atPrevalence(settings) {
  const { recall, specificity } = concentrations(settings);
  const { recall: r, specificity: s } = points(settings);
  const p = settings.at;
  const value = (hit, miss) => (hit + miss > 0 ? hit / (hit + miss) : NaN);
  return [
    rowOf("precision", value(p * r, (1 - p) * (1 - s)), predictiveValue(recall, specificity, p), settings),
    rowOf("negative_predictive_value", value((1 - p) * s, p * (1 - r)), predictiveValue(specificity, recall, 1 - p), settings),
    rowOf("accuracy", p * r + (1 - p) * s, accuracyAt(recall, specificity, p), settings),
  ];
}

// Numbers as the library writes them, to the digit: bayescm.results.writing has functions of the same names.

const MOST_DECIMALS = 6;
const NOISE = 1e-15; // a number that is as near to 0, 1 or -1 is one of these with a rounding error

/** A number with so many decimals; of two that are as near the even one, as Python rounds. */
function fixed(value, digits) {
  const text = value.toFixed(digits);
  const tie = /^50*$/.test(value.toFixed(60).split(".")[1]?.slice(digits));
  return tie && Number(text.at(-1)) % 2 ? text.slice(0, -1) + (Number(text.at(-1)) - 1) : text;
}

/** Two digits, as Python's format .2g writes them. */
function brief(value) {
  const [digits, power] = value.toExponential(1).split("e").map(Number);
  if (power >= -4 && power < 2) return String(Number(value.toPrecision(2)));
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** A number of a table, with more decimals where it would be a false 1. */
export function show(value, digits = 3) {
  const nearest = Math.abs(value) < 1.5 ? Math.round(value) : value;
  if (value !== nearest && Math.abs(value - nearest) < NOISE) return show(nearest + 0, digits);
  const size = Math.abs(value);
  if (Number.isNaN(value)) return "-";
  if (size === Infinity) return value > 0 ? "inf" : "-inf";
  while (digits < MOST_DECIMALS && size !== 1 && Number(fixed(size, digits)) === 1) digits += 1;
  if (size >= 1000 && size < 1e7) return Number(fixed(value, 0)).toLocaleString("en");
  return value === 0 || (size >= 10 ** -digits && size < 1000) ? fixed(value, digits) : brief(value);
}

/** The decimals that an interval deserves: two, three steps from end to end, and no end a false 0 or 1. */
function decimalsOf(lower, upper) {
  const width = upper - lower;
  if (!(width > 0 && width < Infinity)) return 3;
  let decimals = Math.max(2, Math.ceil(-Math.log10(width / 3) - 1e-9));
  const falsely = (value) => [0, 1].includes(Number(fixed(value, decimals))) && ![0, 1].includes(value);
  while (decimals < MOST_DECIMALS && [lower, upper].some(falsely)) decimals += 1;
  return Math.min(decimals, MOST_DECIMALS);
}

/** A number with its interval, such as 0.93 (95%: 0.77 to 0.98). */
export function estimate({ point, lower, upper }, level = null) {
  if (Number.isNaN(lower)) return `${show(point)} (no interval)`;
  const digits = decimalsOf(lower, upper);
  const tiny = digits === MOST_DECIMALS ? 10 ** -MOST_DECIMALS : 0;
  const texts = [point, lower, upper].map((one) => (Math.abs(one) >= tiny && Math.abs(one) < 1000 ? fixed(one, digits) : show(one)));
  return `${Number.isNaN(point) ? "undefined" : texts[0]} (${level === null ? "" : `${percent(level)}: `}${texts[1]} to ${texts[2]})`;
}

/** The numbers of rows of one table, with the decimals that the narrowest interval deserves. */
export function cells(rows) {
  const widths = rows.map(({ lower, upper }) => upper - lower).filter((width) => width > 0 && width < Infinity);
  const digits = widths.length ? Math.min(Math.max(1 - Math.floor(Math.log10(Math.min(...widths))), 3), MOST_DECIMALS) : 3;
  return rows.map(({ point, mean, lower, upper }) => [point, mean, lower, upper].map((value) => show(value, digits)));
}

export const percent = (level) => `${Number((100 * level).toPrecision(6))}%`;
const probability = (value) => (value < 0.001 ? "< 0.001" : value > 0.999 ? "> 0.999" : fixed(value, 3));
const capital = (text) => text[0].toUpperCase() + text.slice(1);

/** The answer in a few sentences. */
export function sentence({ rows, deceptive, elsewhere, settings }) {
  const found = Object.fromEntries(rows.map((row) => [row.metric, row]));
  const parts = ["recall", "specificity", "precision"].map((name, i) => `${called(name)} is ${estimate(found[name], i ? null : settings.ciProb)}`);
  const said = [capital(parts.join("; ")) + "."];
  if (elsewhere.length) said.push(`Where ${percent(settings.at)} are positive, ${elsewhere.slice(0, 2).map((row) => `${called(row.metric)} is ${estimate(row)}`).join("; ")}.`);
  said.push(`The probability that it is worse than chance is ${probability(deceptive)}.`);
  return said.join(" ");
}

export const ASSUMED =
  "independent items of one population; uncertainty of the test set only, not of training" +
  "; at another prevalence the rates of each class stay the same";

/** Rows without their distributions: what is copied. */
export function records({ rows, elsewhere, settings }) {
  const plain = (at) => ({ metric, point, mean, lower, upper, ciKind, how }) => ({
    metric, prevalence: at, point, mean, lower, upper, ci_prob: settings.ciProb, ci_kind: ciKind, how,
  });
  return [...rows.map(plain("estimated")), ...elsewhere.map(plain(settings.at))];
}

export function csv(found) {
  const rows = records(found);
  const cell = (value) => (Number.isNaN(value) ? "" : String(value));
  return [Object.keys(rows[0]), ...rows.map((row) => Object.values(row).map(cell))].map((row) => row.join(",")).join("\n") + "\n";
}

export function json(found) {
  const { tp, fn, fp, tn, model, prior, ciProb } = found.settings;
  const made = {
    counts: { tp, fn, fp, tn }, model, prior, ci_prob: ciProb, assumptions: ASSUMED,
    metrics: records(found), probability_deceptive: found.deceptive,
  };
  return JSON.stringify(made, (_, value) => (typeof value === "number" && !Number.isFinite(value) ? null : value), 1);
}

/** The Python that says the same. */
export function python({ tp, fn, fp, tn, model, prior, ciProb, ciKind, at }) {
  const known = `model="${model}", prior=${typeof prior === "number" ? prior : `"${prior}"`}`;
  const level = `ci_prob=${ciProb}, ci_kind="${ciKind}"`;
  const lines = [
    "import bayescm", "", `counts = bayescm.from_cells(tp=${tp}, fn=${fn}, fp=${fp}, tn=${tn})`,
    `metrics = [${Object.values(METRICS).map(([name]) => `"${name}"`).join(", ")}]`,
    `print(bayescm.summary(counts, metrics, ${known}, ${level}))`,
    `print(bayescm.probability(counts, "deceptive", ${known}))`,
  ];
  if (at !== null) lines.push(`print(bayescm.summary(counts, ["ppv", "npv", "accuracy"], prevalence=${at}, ${known}, ${level}))`);
  return lines.join("\n") + "\n";
}
