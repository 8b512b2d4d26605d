// From four numbers to answers: the distributions of the metrics, a sentence, CSV and the Python that says the same.

import { accuracyAt, beta, informedness, interval, predictiveValue, uncertainPredictiveValue } from "./distributions.mjs";

export const MODELS = ["dirichlet_multinomial", "three_binomial"];
export const PRIORS = { jeffreys: 0.5, laplace: 1 };
export const MOST = 1e8;
export const CELLS = ["tp", "fn", "fp", "tn"];
const LEAST_PRIOR = 0.1;
const MOST_PRIOR = 1000;

export const CALLED = {
  recall: "Sensitivity (recall)", specificity: "Specificity", precision: "Positive predictive value (precision)",
  negative_predictive_value: "Negative predictive value", accuracy: "Accuracy", prevalence: "Prevalence",
  informedness: "Informedness (Youden's J)",
};
const SHORT = { ...CALLED, precision: "precision (PPV)", negative_predictive_value: "NPV", recall: "sensitivity (recall)", specificity: "specificity" };

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
  const [recall, specificity] = [ratio(tp, fn), ratio(tn, fp)];
  return {
    recall, specificity, precision: ratio(tp, fp), negative_predictive_value: ratio(tn, fn),
    accuracy: ratio(tp + tn, fp + fn), prevalence: ratio(tp + fn, fp + tn), informedness: recall + specificity - 1,
  };
}

/** The posterior distribution of every metric, made when it is asked for; null where the page has none. */
export function distributionsOf(settings) {
  const known = concentrations(settings);
  const whole = settings.model === "dirichlet_multinomial";
  const { recall, specificity } = known;
  const swapped = [known.prevalence[1], known.prevalence[0]];
  return {
    recall: () => beta(...recall),
    specificity: () => beta(...specificity),
    precision: () => (whole ? beta(...known.precision) : uncertainPredictiveValue(recall, specificity, known.prevalence)),
    negative_predictive_value: () =>
      whole ? beta(...known.negative_predictive_value) : uncertainPredictiveValue(specificity, recall, swapped),
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

/** A number with the decimals that its interval deserves, never a false 0 or 1. */
export function show(value, lower = value, upper = value) {
  if (Number.isNaN(value)) return "undefined";
  const width = upper - lower;
  let decimals = width > 0 ? Math.max(2, Math.ceil(-Math.log10(width / 3) - 1e-9)) : 3;
  const rounded = (x) => Number(x.toFixed(decimals));
  while (decimals < 6 && [lower, upper].some((x) => [0, 1].includes(rounded(x)) && ![0, 1].includes(x))) decimals += 1;
  const text = value.toFixed(Math.min(decimals, 6));
  return Number(text) === 0 && value > 0 ? "< 0.000001" : Number(text) === 1 && value < 1 ? "> 0.999999" : text;
}

export const percent = (level) => `${Number((100 * level).toFixed(9))}%`;

const within = ({ lower, upper }) => `${show(lower, lower, upper)} to ${show(upper, lower, upper)}`;
const stated = (row, level = "") => `${show(row.point, row.lower, row.upper)} (${level}${within(row)})`;
const capital = (text) => text[0].toUpperCase() + text.slice(1);

/** The answer in a few sentences. */
export function sentence({ rows, deceptive, elsewhere, settings }) {
  const found = Object.fromEntries(rows.map((row) => [row.metric, row]));
  const first = ["recall", "specificity", "precision"];
  const parts = first.map((name, i) => `${SHORT[name]} is ${stated(found[name], i ? "" : `${percent(settings.ciProb)}: `)}`);
  const said = [capital(parts.join("; ")) + "."];
  if (elsewhere.length) {
    const [ppv, npv] = elsewhere;
    said.push(`Where ${percent(settings.at)} are positive, PPV is ${stated(ppv)} and NPV ${stated(npv)}.`);
  }
  const chance = deceptive < 0.001 ? "< 0.001" : deceptive > 0.999 ? "> 0.999" : deceptive.toFixed(3);
  said.push(`The probability that it is worse than chance is ${chance}.`);
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
  return JSON.stringify(made, (_, value) => (Number.isNaN(value) ? null : value), 1);
}

/** The Python that says the same. */
export function python({ tp, fn, fp, tn, model, prior, ciProb, ciKind, at }) {
  const known = `model="${model}", prior=${typeof prior === "number" ? prior : `"${prior}"`}`;
  const level = `ci_prob=${ciProb}, ci_kind="${ciKind}"`;
  const lines = [
    "import bayescm", "", `counts = bayescm.from_cells(tp=${tp}, fn=${fn}, fp=${fp}, tn=${tn})`,
    `metrics = [${Object.keys(CALLED).map((name) => `"${name}"`).join(", ")}]`,
    `print(bayescm.summary(counts, metrics, ${known}, ${level}))`,
    `print(bayescm.probability(counts, "deceptive", ${known}))`,
  ];
  if (at !== null) lines.push(`print(bayescm.summary(counts, ["ppv", "npv", "accuracy"], prevalence=${at}, ${known}, ${level}))`);
  return lines.join("\n") + "\n";
}
