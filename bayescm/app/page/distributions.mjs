// Distributions of metrics: a Beta in closed form, informedness and predictive values by one or two integrals.
// Each has `support`, `tails(x)` = [P(<= x), P(> x)], `density(x)`, `mean` and, by `interval`, both kinds of interval.

import { expit, integrate, logDensity, logit, quantile, root, rule, tails } from "./numbers.mjs";

const OUTSIDE = 1e-16; // probability that a window leaves out
const LEAST_MASS = 1e-25; // of a node
const AT_END = 1e-3; // of the width: a window that begins so close to an end begins there, where its density may be infinite
const PLACES = [-30, -8, -3, -1, 1, 3, 8, 30]; // where a narrowest interval is looked for, in log-odds
const KNOWN_WELL = 0.1; // standard deviation of log-odds below which an uncertain share is smooth by itself
const MOST_NODES = 1024; // of each side of a log ratio; where more were needed, the share is cut up instead
const SHARE = { toScale: logit, fromScale: expit, slope: (y) => expit(y) * expit(-y) };
const RATIO = { toScale: Math.log, fromScale: Math.exp, slope: Math.exp };
const LINE = { toScale: (x) => x, fromScale: (x) => x, slope: () => 1 };

/** The Beta distribution: a share of items. */
export function beta(a, b) {
  const below = (p, q) => expit(quantile(a, b, p, q));
  return {
    kind: "closed form", support: [0, 1], mean: a / (a + b), beta: [a, b],
    tails: (x) => (x <= 0 ? [0, 1] : x >= 1 ? [1, 0] : tails(a, b, logit(x))),
    density: (x) => Math.exp(logDensity(a, b, logit(x))) / (x * (1 - x)),
    quantile: below,
    hdi: (level) => betaHdi(a, b, level),
  };
}

/** Ends of the highest-density interval of a Beta; null where the density has no single peak. */
function betaHdi(a, b, level) {
  const rising = a >= 1 && b <= 1;
  const falling = a <= 1 && b >= 1;
  if (rising && falling) return null;
  if (rising) return [expit(quantile(a, b, 1 - level, level)), 1];
  if (falling) return [0, expit(quantile(a, b, level, 1 - level))];
  if (a < 1 && b < 1) return null;
  const log = (t) => logDensity(a, b, t) - Math.log(expit(t)) - Math.log(expit(-t));
  const ends = (u) => [quantile(a, b, (1 - level) * expit(u)), -quantile(b, a, (1 - level) * expit(-u))];
  const excess = (u) => {
    const [low, high] = ends(u);
    return log(low) - log(high);
  };
  return ends(root(excess, -45, 45)).map(expit);
}

/** A distribution on a scale (log-odds, or the number itself) by the probability of both sides and its density there. */
function numeric({ scale, window, support, mean, below, above, densityAt }) {
  const side = { below, above, densityAt, window };
  const at = (p, q, start) => invert(side, p, q, start);
  const log = (y) => Math.log(densityAt(y)) - Math.log(scale.slope(y));
  const hdi = (level) => {
    let [low, high] = [undefined, undefined];
    const ends = (u) => {
      low = at((1 - level) * expit(u), 1 - (1 - level) * expit(u), low);
      high = at(1 - (1 - level) * expit(-u), (1 - level) * expit(-u), high);
      return [low, high];
    };
    const excess = (u) => {
      const [one, other] = ends(u).map(log);
      return one === other || Number.isNaN(one - other) ? 0 : one - other;
    };
    const signs = PLACES.map(excess);
    const [rises, falls] = [signs.at(-1) <= 0, signs[0] >= 0];
    const found = [];
    signs.forEach((sign, i) => {
      if (sign < 0 && signs[i + 1] >= 0) found.push(ends(root(excess, PLACES[i], PLACES[i + 1], 1e-12)).map(scale.fromScale));
    });
    if (rises === falls && !found.length) return null;
    if (falls) found.push([support[0], scale.fromScale(at(level, 1 - level))]);
    if (rises) found.push([scale.fromScale(at(1 - level, level)), support[1]]);
    return found.reduce((one, other) => (other[1] - other[0] < one[1] - one[0] ? other : one));
  };
  return {
    kind: "integral", support, mean, hdi,
    tails: (x) => {
      if (x <= support[0] || x >= support[1]) return x <= support[0] ? [0, 1] : [1, 0];
      return [below(scale.toScale(x)), above(scale.toScale(x))];
    },
    density: (x) => densityAt(scale.toScale(x)) / scale.slope(scale.toScale(x)),
    quantile: (p, q = 1 - p) => scale.fromScale(at(p, q)),
  };
}

/** Place where the probability below is p and above is q, by Newton's method on the logarithm of the smaller one. */
function invert({ below, above, densityAt, window }, p, q, start) {
  let [low, high] = window;
  const lower = p <= q;
  let y = start > low && start < high ? start : (low + high) / 2;
  for (let step = 0; step < 200; step += 1) {
    const mass = lower ? below(y) : above(y);
    if (lower ? mass > p : mass < q) high = y;
    else low = y;
    const move = (Math.log(mass / (lower ? p : q)) * mass * (lower ? 1 : -1)) / densityAt(y);
    let next = y - move;
    if (Math.abs(next - y) <= 1e-13 * Math.max(1, Math.abs(y))) return next;
    if (!(next > low && next < high)) next = (low + high) / 2;
    if (high - low <= 1e-15 * Math.max(1, Math.abs(y))) return next;
    y = next;
  }
  return y;
}

/** Where a Beta lies, but for a probability of no account; 0 and 1 where it comes close to them. */
function windowOf(a, b) {
  const [low, high] = [quantile(a, b, OUTSIDE, 1), -quantile(b, a, OUTSIDE, 1)];
  const width = expit(high) - expit(low);
  return [expit(low) < AT_END * width ? 0 : expit(low), expit(-high) < AT_END * width ? 1 : expit(high)];
}

/** The distribution of recall + specificity - 1, with recall ~ Beta(a, b) and specificity ~ Beta(c, d). */
export function informedness([a, b], [c, d]) {
  const [[low, high], [least, most]] = [windowOf(a, b), windowOf(d, c)]; // of recall; of the false positive rate
  const place = (j) => {
    const left = Math.max(0, -j, least, low - j);
    const right = Math.min(1, 1 - j, most, high - j);
    const points = (l, r) => [left + l, 1 - right + r, left + j + l, 1 - j - right + r].map((x) => Math.max(x, 0));
    return { left, right, points };
  };
  const over = (j, f) => {
    const { left, right, points } = place(j);
    return integrate(right - left, (l, r) => f(...points(l, r)));
  };
  const odds = (x, y) => Math.log(x) - Math.log(y);
  const rate = (x, y) => Math.exp(logDensity(d, c, odds(x, y))) / (x * y);
  const below = (j) => {
    const { left, right } = place(j);
    const beyond = right >= 1 ? 0 : tails(d, c, logit(Math.max(right, left)))[1];
    return beyond + over(j, (x, y, u, v) => rate(x, y) * tails(a, b, odds(u, v))[0]);
  };
  const above = (j) => {
    const { left } = place(j);
    const before = left <= 0 ? 0 : tails(d, c, logit(Math.min(left, 1)))[0];
    return before + over(j, (x, y, u, v) => rate(x, y) * tails(a, b, odds(u, v))[1]);
  };
  return numeric({
    scale: LINE, support: [-1, 1], window: [-1, 1], mean: a / (a + b) + c / (c + d) - 1, below, above,
    densityAt: (j) => over(j, (x, y, u, v) => (rate(x, y) * Math.exp(logDensity(a, b, odds(u, v)))) / (u * v)),
  });
}

/** Accuracy at a known prevalence, share * recall + (1 - share) * specificity: recall ~ Beta(a, b), specificity ~ Beta(c, d). */
export function accuracyAt([a, b], [c, d], share) {
  const rest = 1 - share;
  const [[low, high], [least, most]] = [windowOf(a, b), windowOf(c, d)];
  const place = (x) => ({ // what recall adds, where both lie in their windows
    left: Math.max(0, x - rest, share * low, x - rest * most), right: Math.min(share, x, share * high, x - rest * least),
  });
  const over = (x, f) => {
    const { left, right } = place(x);
    const points = (l, r) => [left + l, share - right + r, x - right + r, rest - x + left + l].map((y) => Math.max(y, 0));
    return integrate(right - left, (l, r) => f(...points(l, r)));
  };
  const odds = (x, y) => Math.log(x) - Math.log(y);
  const density = (p, q, x, y, width) => (Math.exp(logDensity(p, q, odds(x, y))) * width) / (x * y);
  const before = (x) => (x <= 0 ? [0, 1] : x >= share ? [1, 0] : tails(a, b, odds(x, share - x)));
  const made = numeric({
    scale: LINE, support: [0, 1], window: [0, 1], mean: (share * a) / (a + b) + (rest * c) / (c + d),
    below: (x) => before(place(x).left)[0] + over(x, (u, v, s, t) => density(a, b, u, v, share) * tails(c, d, odds(s, t))[0]),
    above: (x) => before(place(x).right)[1] + over(x, (u, v, s, t) => density(a, b, u, v, share) * tails(c, d, odds(s, t))[1]),
    densityAt: (x) => over(x, (u, v, s, t) => density(a, b, u, v, share) * density(c, d, s, t, rest)),
  });
  const spread = (p, q, weight) => (weight * Math.sqrt((p * q) / (p + q + 1))) / (p + q);
  const wider = spread(a, b, share) > spread(c, d, rest) ? [a, b] : [c, d];
  const twoPeaks = Math.max(...wider) < 1; // the shortest interval wouldn't be of the highest density
  return twoPeaks ? { ...made, hdi: () => null } : made;
}

/** Minus the logarithm of a Beta variable. */
function minusLog(a, b) {
  const odds = (x) => -Math.log(Math.expm1(x));
  const end = (t) => Math.log1p(Math.exp(-t)); // at log-odds t
  const [low, high] = [end(-quantile(b, a, OUTSIDE, 1)), end(quantile(a, b, OUTSIDE, 1))];
  return {
    window: [low < AT_END * high ? 0 : low, high],
    density: (x) => Math.exp(logDensity(a, b, odds(x))) / -Math.expm1(-x),
    below: (x) => (x <= 0 ? 0 : tails(a, b, odds(x))[1]),
    above: (x) => (x <= 0 ? 1 : tails(a, b, odds(x))[0]),
  };
}

/** The logarithm of the likelihood ratio, log X - log(1 - Y), with X ~ Beta(a, b) and Y ~ Beta(c, d). */
function logRatio([a, b], [c, d]) {
  const [one, two] = [minusLog(a, b), minusLog(d, c)];
  const place = (w) => {
    const [up, down] = [Math.max(w, 0), Math.max(-w, 0)];
    const left = Math.max(0, one.window[0] - down, two.window[0] - up);
    return { up: up + left, down: down + left, width: Math.min(one.window[1] - down, two.window[1] - up) - left };
  };
  const density = (w) => {
    const { up, down, width } = place(w);
    return integrate(width, (x) => one.density(x + down) * two.density(x + up));
  };
  const below = (w) => {
    const { up, down, width } = place(w);
    return two.below(up) + integrate(width, (x) => two.density(x + up) * one.above(x + down));
  };
  const above = (w) => {
    const { up, down, width } = place(w);
    return one.below(down) + integrate(width, (x) => one.density(x + down) * two.above(x + up));
  };
  return { density, below, above, window: [two.window[0] - one.window[1], two.window[1] - one.window[0]] };
}

/** The likelihood ratio X / (1 - Y) of a result, with X ~ Beta(a, b) and Y ~ Beta(c, d). */
export function likelihoodRatio([a, b], [c, d]) {
  const { window, below, above, density } = logRatio([a, b], [c, d]);
  const mean = d > 1 ? ((a / (a + b)) * (c + d - 1)) / (d - 1) : Infinity;
  return numeric({ scale: RATIO, support: [0, Infinity], window, mean, below, above, densityAt: density });
}

const total = (nodes, f) => nodes.reduce((sum, [at, weight]) => sum + weight * f(at), 0);

/** A predictive value at a known prevalence: of the class whose share is `share` and whose rate is `own`. */
export function predictiveValue(own, other, share) {
  const shift = logit(share);
  const ratio = logRatio(own, other);
  return numeric({
    scale: SHARE, support: [0, 1], window: ratio.window.map((w) => w + shift),
    below: (y) => ratio.below(y - shift), above: (y) => ratio.above(y - shift),
    densityAt: (y) => ratio.density(y - shift),
    mean: total(ofRatio(ratio), (w) => expit(w + shift)),
  });
}

/** A predictive value whose class share is itself uncertain, Beta(a, b), independent of both rates. */
export function uncertainPredictiveValue(own, other, [a, b]) {
  const ratio = logRatio(own, other);
  const ends = [quantile(a, b, OUTSIDE, 1), -quantile(b, a, OUTSIDE, 1)];
  const shares = ofShare(a, b, ends);
  const narrow = Math.sqrt(1 / a + 1 / b);
  const wide = ratio.window[1] - ratio.window[0];
  const wanted = (7 * wide) / narrow; // nodes, so that none misses where the share is
  const coarse = narrow < KNOWN_WELL && wanted > MOST_NODES;
  const nodes = ofRatio(ratio, coarse ? 128 : wanted);
  const over = (ofRatioAt, ofShareAt) => (y) =>
    coarse ? total(shares, (t) => ofRatioAt(y - t)) : total(nodes, (w) => ofShareAt(y - w));
  return numeric({
    scale: SHARE, support: [0, 1], window: [ratio.window[0] + ends[0], ratio.window[1] + ends[1]],
    below: over(ratio.below, (t) => tails(a, b, t)[0]),
    above: over(ratio.above, (t) => tails(a, b, t)[1]),
    densityAt: over(ratio.density, (t) => Math.exp(logDensity(a, b, t))),
    mean: total(nodes, (w) => total(shares, (t) => expit(w + t))),
  });
}

/** Nodes and weights of the log ratio, from both sides of 0, where its density may be singular, until they add up to 1. */
function ofRatio(ratio, least = 128) {
  const [low, high] = ratio.window;
  const parts = low < 0 && high > 0 ? [[0, high], [0, low]] : [[low, high]];
  for (let half = 128; ; half *= 2) {
    if (half < Math.min(least, MOST_NODES)) continue;
    const made = [];
    for (const [from, to] of parts) {
      for (const [left, , weight] of rule(half)) {
        const w = from + (to - from) * left;
        const mass = Math.abs(to - from) * weight * ratio.density(w);
        if (mass > LEAST_MASS) made.push([w, mass]);
      }
    }
    if (half >= MOST_NODES || Math.abs(total(made, () => 1) - 1) < 1e-12) return made;
  }
}

/** Nodes and weights of the log-odds of a Beta, by the trapezoidal rule, which converges fast for such densities. */
function ofShare(a, b, [low, high]) {
  const steps = Math.max(30, Math.ceil((high - low) / 0.4));
  const step = (high - low) / steps;
  return Array.from({ length: steps + 1 }, (_, i) => [low + i * step, step * Math.exp(logDensity(a, b, low + i * step))]);
}

/** Ends of an interval and its kind: the highest-density one has to be unique, else the tails are equal. */
export function interval(distribution, level, kind) {
  const ends = kind === "hdi" ? distribution.hdi(level) : null;
  if (ends !== null) return { lower: ends[0], upper: ends[1], ciKind: "hdi" };
  const tail = (1 - level) / 2;
  return { lower: distribution.quantile(tail, 1 - tail), upper: distribution.quantile(1 - tail, tail), ciKind: "eti" };
}
