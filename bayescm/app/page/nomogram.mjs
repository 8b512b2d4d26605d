// Fagan's nomogram as SVG: from the probability before a test, past the likelihood ratio, to the one after it.

const SIZE = { width: 520, height: 520, left: 90, right: 90, top: 14, bottom: 30 };
const BELOW_HALF = [1, 2, 5].flatMap((k) => [1, 2, 3, 4].map((n) => k * 10 ** -n)).concat(0.3, 0.4).filter((p) => p < 0.5);
const PROBABILITIES = [0.5, ...BELOW_HALF.flatMap((p) => [p, 1 - p])]; // round ones first
const RATIOS = [1, 2, 5].flatMap((k) => [-4, -3, -2, -1, 0, 1, 2, 3, 4].map((n) => k * 10 ** n));
const [NEAREST, FARTHEST, APART] = [7, 9.3, 16]; // log-odds at the ends; pixels between two numbers
const BEYOND = 50; // where a probability of 0 or 1 is drawn: far outside
const odds = (p) => Math.log(p) - Math.log1p(-p);
const shortest = (x) => String(Number(x.toPrecision(6)));

/** Draw results, each {name, middle, lower, upper}, at a probability before the test. */
export function nomogram(before, results) {
  const { width, height, left, right, top, bottom } = SIZE;
  const all = [before, ...results.flatMap(({ middle, lower, upper }) => [middle, lower, upper])].map(odds);
  const reach = Math.min(Math.max(NEAREST, 0.3 + Math.max(...all.map(Math.abs).filter(Number.isFinite))), FARTHEST);
  const xs = [left, width / 2, width - right];
  const inside = (y) => Math.min(Math.max(y, -BEYOND), BEYOND);
  const up = (y) => Number((top + ((reach - inside(y)) / (2 * reach)) * (height - top - bottom)).toFixed(1));
  const from = up(-odds(before));
  const drawn = results.map(({ middle, lower, upper }, i) => {
    const [mid, low, high] = [middle, lower, upper].map((p) => up(odds(p)));
    return `<g class="result${i}"><polygon points="${xs[0]},${from} ${xs[2]},${low} ${xs[2]},${high}"/><line x1="${xs[0]}" x2="${xs[2]}" y1="${from}" y2="${mid}"/><line class="end" x1="${xs[2]}" x2="${xs[2]}" y1="${low}" y2="${high}"/></g>`;
  });
  const chances = (sign) => PROBABILITIES.map((p) => [sign * odds(p), `${shortest(100 * p)}%`]);
  const scales = [
    scale(xs[0], chances(-1), -1), scale(xs[1], RATIOS.map((r) => [Math.log(r) / 2, shortest(r)]), -1), scale(xs[2], chances(1), 1),
  ];
  function scale(x, ticks, side) {
    const taken = [];
    for (const [y, text] of ticks) {
      if (Math.abs(y) <= reach && taken.every(([other]) => Math.abs(up(other) - up(y)) >= APART)) taken.push([y, text]);
    }
    const marks = taken.map(([y, text]) => `<line class="axis" x1="${x}" x2="${x + side * 6}" y1="${up(y)}" y2="${up(y)}"/><text x="${x + side * 10}" y="${up(y) + 4}" text-anchor="${side < 0 ? "end" : "start"}">${text}</text>`);
    return `<line class="axis" x1="${x}" x2="${x}" y1="${up(reach)}" y2="${up(-reach)}"/>${marks.join("")}`;
  }
  const names = ["before the test", "likelihood ratio", "after the test"].map((name, i) => `<text x="${xs[i]}" y="${height - 8}" text-anchor="middle">${name}</text>`);
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="Nomogram: the numbers are in the table"><svg y="${top}" width="${width}" height="${height - top - bottom}" viewBox="0 ${top} ${width} ${height - top - bottom}">${drawn.join("")}</svg>${scales.join("")}${names.join("")}</svg>`;
}
