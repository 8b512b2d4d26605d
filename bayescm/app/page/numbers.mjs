// Special functions of Betas without dependencies. A Beta variable X is looked at by t = log(X / (1 - X)), so that what
// lies close to 0 or 1 keeps its digits; the density in t is x^a (1 - x)^b / B(a, b).

const STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400];
const MOST_STEPS = 200000; // of the continued fraction: enough for the counts that the page takes
const NOTHING = 1e-30; // an integral so small needs no digits
const FAR = 700; // log-odds beyond which a double has nothing left

export const expit = (t) => (t >= 0 ? 1 / (1 + Math.exp(-t)) : Math.exp(t) / (1 + Math.exp(t)));
export const logit = (x) => Math.log(x) - Math.log1p(-x);

/** log Gamma(a) less Stirling's approximation, log sqrt(2 pi / a) + a log a - a. */
function stirlingError(a) {
  let shift = 0;
  for (; a < 16; a += 1) shift += (a + 0.5) * Math.log1p(1 / a) - 1;
  let power = 1 / a;
  let sum = 0;
  for (const term of STIRLING) {
    sum += term * power;
    power /= a * a;
  }
  return shift + sum;
}

/** x log(x / m) + m - x without cancellation (Loader 2000). */
function deviance(x, m) {
  if (Math.abs(x - m) >= 0.1 * (x + m)) return x * Math.log(x / m) + m - x;
  const v = (x - m) / (x + m);
  let sum = (x - m) * v;
  let term = 2 * x * v;
  for (let j = 1; j < 60; j += 1) {
    term *= v * v;
    const next = sum + term / (2 * j + 1);
    if (next === sum) break;
    sum = next;
  }
  return sum;
}

const CONSTANTS = new Map();
const MOST_KEPT = 1000;

/** The part of a Beta's density that doesn't depend on where it is. */
function constantOf(a, b) {
  let row = CONSTANTS.get(a);
  if (CONSTANTS.size > MOST_KEPT) CONSTANTS.clear();
  if (row === undefined) CONSTANTS.set(a, (row = new Map()));
  let value = row.get(b);
  if (value === undefined) {
    const errors = stirlingError(a + b) - stirlingError(a) - stirlingError(b);
    row.set(b, (value = 0.5 * Math.log((a / (a + b)) * (b / (2 * Math.PI))) + errors));
  }
  return value;
}

/** Log of the density of the log-odds of a Beta, at log-odds t. */
export function logDensity(a, b, t) {
  if (Math.abs(t) > FAR) return -Infinity;
  const n = a + b;
  return constantOf(a, b) - deviance(a, n * expit(t)) - deviance(b, n * expit(-t));
}

/** Continued fraction of the incomplete beta function, by Lentz. */
function fraction(a, b, x) {
  const tiny = 1e-300;
  const guard = (value) => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / guard(1 - ((a + b) * x) / (a + 1));
  let h = d;
  for (let m = 1; m < MOST_STEPS; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / guard(1 + even * d);
    c = guard(1 + even / c);
    h *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / guard(1 + odd * d);
    c = guard(1 + odd / c);
    h *= d * c;
    if (Math.abs(d * c - 1) < 3e-16) break;
  }
  return h;
}

/** P(X <= x) and P(X > x) of Beta(a, b) at log-odds t of x. */
export function tails(a, b, t) {
  if (t <= -FAR) return [0, 1];
  if (t >= FAR) return [1, 0];
  const density = Math.exp(logDensity(a, b, t));
  const x = expit(t);
  if (x < (a + 1) / (a + b + 2)) {
    const below = (density * fraction(a, b, x)) / a;
    return [below, 1 - below];
  }
  const above = (density * fraction(b, a, expit(-t))) / b;
  return [1 - above, above];
}

/** Log-odds below which Beta(a, b) has probability p; q = 1 - p, given for its digits. */
export function quantile(a, b, p, q = 1 - p) {
  if (p > q) return -quantile(b, a, q, p);
  let low = -FAR;
  let high = FAR;
  let t = Math.log(a / b);
  for (let step = 0; step < 200; step += 1) {
    const below = tails(a, b, t)[0];
    if (below > p) high = t;
    else low = t;
    const move = below > 0 ? (Math.log(below / p) * below) / Math.exp(logDensity(a, b, t)) : -Infinity;
    let next = t - move;
    if (!(next > low && next < high)) next = (low + high) / 2;
    if (Math.abs(next - t) <= 1e-15 * Math.max(1, Math.abs(t)) || high - low < 1e-15) return next;
    t = next;
  }
  return t;
}

/** Root of a function that is negative at `low` and positive at `high`, by Chandrupatla's method. */
export function root(f, low, high, tolerance = 1e-14) {
  let [a, b, c] = [high, low, high];
  let [fa, fb, fc] = [f(a), f(b), NaN];
  if (fb >= 0) return low;
  if (fa <= 0) return high;
  let t = 0.5;
  for (let step = 0; step < 200; step += 1) {
    const x = a + t * (b - a);
    const fx = f(x);
    if (Math.sign(fx) === Math.sign(fa)) [c, fc] = [a, fa];
    else [c, b, fc, fb] = [b, a, fb, fa];
    [a, fa] = [x, fx];
    const best = Math.abs(fa) < Math.abs(fb) ? a : b;
    const limit = tolerance * Math.max(Math.abs(best), 1e-3) / Math.abs(b - c || 1);
    if (limit > 0.5 || fx === 0 || a === b) return best;
    const xi = (a - b) / (c - b);
    const phi = (fa - fb) / (fc - fb);
    t = 0.5;
    if (phi ** 2 < xi && (1 - phi) ** 2 < 1 - xi) {
      t = (fa / (fb - fa)) * (fc / (fb - fc)) + ((c - a) / (b - a)) * (fa / (fc - fa)) * (fb / (fc - fb));
    }
    t = Math.min(Math.max(t, limit), 1 - limit);
  }
  return a;
}

const RULES = new Map();
const REACH = 5.5;

/** Nodes of the tanh-sinh rule on (0, 1): distances to both ends, and weights; of a refinement the new ones alone. */
export function rule(half, refined = false) {
  const key = refined ? -half : half;
  if (!RULES.has(key)) {
    const made = [];
    for (let k = refined ? 1 - half : -half; k <= half; k += refined ? 2 : 1) {
      const u = (REACH * k) / half;
      const left = expit(Math.PI * Math.sinh(u));
      const right = expit(-Math.PI * Math.sinh(u));
      made.push([left, right, ((Math.PI * REACH) / half) * Math.cosh(u) * left * right]);
    }
    RULES.set(key, made);
  }
  return RULES.get(key);
}

/** Integral over an interval of f(distance from its left end, distance from its right end), which may be singular there. */
export function integrate(width, f, accuracy = 1e-12) {
  if (!(width > 0)) return 0;
  const over = (nodes) => {
    let sum = 0;
    for (const [left, right, weight] of nodes) {
      const value = f(width * left, width * right);
      if (Number.isFinite(value)) sum += weight * value;
    }
    return sum * width;
  };
  let found = over(rule(32));
  for (let half = 64; half <= 1024; half *= 2) {
    const next = 0.5 * found + over(rule(half, true));
    if (Math.abs(next - found) <= accuracy * Math.abs(next) + NOTHING) return next;
    found = next;
  }
  return found;
}
