// What figures say: tables, the page of the goals that are missed, and pictures. `waitword-bench` and `js/run.mjs` measure.
//
//   node benches/report.mjs [--out DIR] < benches/results/figures.csv
//
// prints the tables, and writes the page and the pictures to DIR. (The page names the machine on which this runs.)
// With --check it fails if a goal is about an operation or a peer without figures.
//
// `workloads.json` has what each workload is about, and its goals. A goal of an operation is a bound for waitword's figure: a number
// in the figure's unit (nanoseconds, bytes), or a number × another figure, of
//   PEER, or of the first of several that takes part (PEER or PEER); `best`, the best peer; `best with OPERATION ≥ NUMBER`, the best
//   of those; `our OPERATION`, another one of waitword's; `smallest`, waitword's own at the smallest N.
// It has to be met at all N, unless it ends with `, largest N` or `, N = NUMBER`. The goals of `*` are those of all operations that
// have none of their own. A `picture` has a title, in which N is replaced, and the contenders that are drawn as rings.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";

const OURS = "waitword";

/** Neither waitword, in any form, nor what no contender can be faster than. */
const isPeer = (contender) => !contender.startsWith(OURS) && !contender.endsWith("(limit)");

/** The workloads, each with its figures, from what `csv` makes of them. `known` has what else there is to know of each by its name. */
export function read(csv, known) {
  const workloads = new Map();
  for (const line of csv.trimEnd().split("\n").slice(1)) {
    const cells = [...line.matchAll(/(?:"([^"]*)"|([^",]*))(?:,|$)/g)].map(([, quoted, plain]) => quoted ?? plain);
    const [name, what, n, contender, unit, ...numbers] = cells;
    const [median, least, most, wall] = numbers.map((cell) => (cell === "" ? undefined : Number(cell)));
    if (!workloads.has(name)) {
      if (!known[name]) throw new Error(`workloads.json has no ${name}`);
      workloads.set(name, { name, failures: new Map(), ...known[name], figures: [] });
    }
    workloads.get(name).figures.push({ what, n: Number(n), contender, unit, median, least, most, wall });
  }
  return [...workloads.values()];
}

/** All figures, in units without prefixes and in four significant digits. */
export function csv(workloads) {
  const rows = workloads.flatMap(({ name, figures }) =>
    figures.map(({ what, n, contender, unit, ...figure }) => {
      const numbers = [figure.median, figure.least, figure.most, figure.wall].map((it) => (it === undefined ? "" : Number(it.toPrecision(4))));
      return `${name},"${what}",${n},"${contender}",${unit},${numbers}\n`;
    }),
  );
  return `workload,operation,n,contender,unit,median,least,most,wall\n${rows.join("")}`;
}

/** A figure with its unit, in as many digits as it deserves. */
export function short(value, unit) {
  const [from, factor, suffix, fixed] = SUFFIXES[unit].find(([from]) => Math.abs(value) >= from);
  const scaled = value / factor;
  const digits = fixed ?? (Math.abs(scaled) >= 0.05 && Math.abs(scaled) < 10 && !Number.isInteger(scaled) ? 1 : 0);
  return scaled.toFixed(digits) + suffix;
}

// From which value on, divided by what, with which suffix, and in how many digits if always in as many.
const SUFFIXES = {
  ns: [[1e6, 1e6, " ms"], [1e4, 1e3, " µs"], [0, 1, " ns"]],
  B: [[1e6, 1e6, " MB"], [1e4, 1e3, " kB"], [0, 1, " B"]],
  count: [[0, 1, ""]],
  "per second": [[1e5, 1e6, " M/s", 2], [1e3, 1e3, " k/s"], [0, 1, "/s"]],
  ratio: [[0, 1, "", 2]],
};

/** Whether less is better, or more; neither of ratios: a larger share of one side is a smaller one of the other. */
const BETTER = { ns: "≤", B: "≤", count: "≤", "per second": "≥" };

const find = ({ figures }, contender, what, n) => figures.find((it) => it.contender === contender && it.what === what && it.n === n);
const unique = (values) => [...new Set(values)];
const sizes = ({ figures }, what) => unique(figures.filter((it) => it.what === what).map((it) => it.n)).sort((a, b) => a - b);
const contenders = ({ figures }) => unique(figures.map((it) => it.contender));
const operations = ({ figures }) => unique(figures.map((it) => it.what));
const figuresOf = (workload, what, n) => workload.figures.filter((it) => it.what === what && it.n === n);

function best(workload, what, n, bound, counts = () => true) {
  const peers = figuresOf(workload, what, n).filter((it) => isPeer(it.contender) && counts(it.contender));
  const order = bound === "≤" ? (a, b) => a.median - b.median : (a, b) => b.median - a.median;
  // Of those that are as good as each other, the last.
  return peers.reverse().sort(order)[0];
}

const GOAL = new RegExp(
  "^(?<bound>[≤≥]) (?<factor>[\\d.,]+)" +
    "(?: × (?:our (?<own>.+?)|best with (?<also>.+) ≥ (?<least>[\\d.]+)|(?<whose>.+?)))?" +
    "(?:, (?<at>largest N|N = [\\d,]+))?$",
);
const number = (text) => Number(text.replaceAll(",", ""));

/** A check per goal, at the size where it was met worst, if what it is about was measured. */
export function checks(workload) {
  const others = operations(workload).filter((what) => !(what in workload.goals));
  const all = Object.entries(workload.goals).flatMap(([operation, goals]) =>
    (operation === "*" ? others : [operation]).flatMap((what) => [goals].flat().map((goal) => worst(workload, what, goal))),
  );
  return all.filter(Boolean);
}

function worst(workload, what, text) {
  const goal = text.match(GOAL)?.groups;
  if (!goal) throw new Error(`${workload.name}, ${what}: no goal is ${text}`);
  const ours = sizes(workload, what).map((n) => find(workload, OURS, what, n)).filter(Boolean);
  const only = goal.at === "largest N" ? ours.at(-1)?.n : goal.at && number(goal.at.slice("N = ".length));
  const checks = ours.filter(({ n }) => !only || n === only).map((figure) => check(workload, figure, goal, ours[0]));
  return checks.filter(Boolean).reduce((worst, next) => (worst?.used > next.used ? worst : next), undefined);
}

/** Nothing where the figure to compare with was not measured. */
function check(workload, { what, n, unit, median }, goal, smallest) {
  const factor = number(goal.factor);
  const { whose, value } = reference(workload, what, n, goal, smallest);
  const ours = short(median, unit);
  // A peer that did not finish is behind.
  if (value === undefined && workload.failures.has(whose))
    return { met: true, what, n, ours, target: `to be ahead of ${whose}, which did not finish`, because: "", used: 0 };
  if (value === undefined) return undefined;
  const target = factor * value;
  const [less, more] = goal.bound === "≤" ? [target, median] : [median, target];
  const met = more <= less;
  const because = whose && (factor === 1 ? ` (${whose})` : ` (${factor.toFixed(2)} × ${whose})`);
  // How much of what the goal allows was used: at most 1 if it was met.
  const used = less > 0 ? more / less : met ? 0 : Infinity;
  return { met, what, n, ours, target: `${goal.bound} ${short(target, unit)}`, because: because ?? "", used };
}

/** Whose figure a goal is a multiple of, and that figure. */
function reference(workload, what, n, { bound, own, also, least, whose }, smallest) {
  if (own) return { whose: own, value: find(workload, OURS, own, n)?.median };
  if (also) {
    const peer = best(workload, what, n, bound, (peer) => find(workload, peer, also, n)?.median >= Number(least));
    return { whose: `${peer?.contender}, the best with ${also} ≥ ${least}`, value: peer?.median };
  }
  if (whose === "best") {
    const peer = best(workload, what, n, bound);
    return { whose: `${peer?.contender}, the best`, value: peer?.median };
  }
  if (whose === "smallest")
    return { whose: `that at N = ${smallest.n}`, value: smallest.n === n ? undefined : smallest.median };
  if (!whose) return { value: 1 };
  const peer = whose.split(" or ").find((peer) => contenders(workload).includes(peer)) ?? whose;
  return { whose: peer, value: find(workload, peer, what, n)?.median };
}

/** A table for each workload: a row per operation and size, a column per contender. The figures are medians. */
export function tables(workloads) {
  return workloads.map((workload) => `\n## ${workload.name}\n\n${workload.about}\n${table(workload)}${failures(workload)}`).join("");
}

function table(workload) {
  const judged = checks(workload);
  const names = contenders(workload);
  const rows = operations(workload).flatMap((what) => sizes(workload, what).map((n) => row(workload, judged, names, what, n)));
  const head = ["", "N", ...names, "÷ best", "goal"];
  return `\n| ${head.join(" | ")} |\n|${"---|".repeat(head.length)}\n${rows.map((row) => `| ${row.join(" | ")} |\n`).join("")}`;
}

/** The best peer's figure is in bold, unless all have nothing; `÷ best` is ours divided by it. */
function row(workload, judged, names, what, n) {
  const ours = find(workload, OURS, what, n);
  const bound = BETTER[figuresOf(workload, what, n)[0].unit];
  const peer = bound && best(workload, what, n, bound);
  const first = peer?.median || ours?.median ? peer : undefined;
  const cell = (figure) => {
    if (!figure) return "–";
    const text = short(figure.median, figure.unit);
    return figure === first ? `**${text}**` : text;
  };
  const ratio = ours && first ? ours.median / first.median : NaN;
  const cells = names.map((name) => cell(find(workload, name, what, n)));
  return [what, n, ...cells, Number.isFinite(ratio) ? ratio.toFixed(2) : "–", verdict(workload, judged, what, n)];
}

/** Which goals are missed at this size; that all are met stands in the row of the largest. */
function verdict(workload, judged, what, n) {
  const of = judged.filter((check) => check.what === what);
  const missed = of.filter((check) => check.n === n && !check.met).map((check) => check.target);
  if (missed.length > 0) return `**missed:** ${missed.join("; ")}`;
  return n === sizes(workload, what).at(-1) && of.length > 0 && of.every((check) => check.met) ? "met" : "";
}

const failures = ({ name, failures }) =>
  [...failures].map(([contender, why]) => `\n${name}: **${contender} did not finish:** ${why}\n`).join("");

/** The page that is kept: what was missed, when, and where all figures are. `by` is the command that measured, `against` whom. */
export function page(workloads, { by, against, figures }) {
  const machine = `${os.cpus()[0]?.model ?? os.arch()}, ${os.availableParallelism()} CPUs, ${os.platform()}`;
  const head =
    `# Missed goals\n\nWritten by \`${by}\` on ${machine}, compared with ${against.join(", ") || "no peers"}. ` +
    `All figures of all contenders at all sizes: [${figures}](${figures}). ` +
    "What they mean: [benches](../README.md). Why a goal is missed: [costs](../../docs/costs.md).\n\n" +
    "| workload: operation (N) | ours | goal |\n|---|---|---|\n";
  return head + workloads.map((workload) => rowsOfMissed(workload) + failures(workload)).join("");
}

/** One for the goals of an operation that are missed at the same size. */
function rowsOfMissed(workload) {
  const rows = new Map();
  for (const { met, what, n, ours, target, because } of checks(workload)) {
    const row = `${workload.name}: ${what} (${n}) | ${ours}`;
    if (!met) rows.set(row, [...(rows.get(row) ?? []), target + because]);
  }
  return [...rows].map(([row, goals]) => `| ${row} | ${goals.join("; ")} |\n`).join("");
}

const RATE = "acquisitions";
const WAITS = ["longest wait of a thread", "longest wait of a task"];
const SHARE = "share of the tasks";

/** The pictures of a workload in which threads and tasks contend, one for each N, by the names of their files. */
export function pictures(workload) {
  if (![RATE, ...WAITS].every((what) => operations(workload).includes(what))) return [];
  const { title, rings = [] } = workload.picture ?? {};
  return sizes(workload, RATE).map((n) => {
    const points = contenders(workload).map((name) => {
      const waits = WAITS.map((wait) => find(workload, name, wait, n)?.median ?? 0);
      // A logarithm needs a number above 0.
      const [wait, rate] = [Math.max(...waits), find(workload, name, RATE, n)?.median].map((it) => Math.max(it / 1e6, 1e-3));
      return { name, wait, rate, share: find(workload, name, SHARE, n)?.median, isRing: rings.includes(name) };
    });
    const measured = points.filter(({ rate }) => !Number.isNaN(rate));
    const heading = title?.replace(/\bN\b/g, n) ?? `${workload.name}, N = ${n}`;
    return [`${workload.name}-${n}.svg`, scatter(heading, measured)];
  });
}

// One for each lock, as far as they go.
const COLORS = [
  "#D32F2F", "#1E88E5", "#388E3C", "#AB47BC", "#E65100", "#00897B", "#8D6E63", "#616161", "#C2185B", "#3949AB", "#827717", "#0097A7",
];

/** Rate against longest wait, one named point per contender: up is better, and left is. Both axes are logarithmic. */
function scatter(title, points) {
  const frame = { left: 72, right: 840, top: 58, bottom: 391 };
  const { left, right, top, bottom } = frame;
  const x = axis(points.map(({ wait }) => wait), left, right);
  const y = axis(points.map(({ rate }) => rate), bottom, top);
  const line = (x1, y1, x2, y2, color) => `<path d="M${x1} ${y1}L${x2} ${y2}" stroke="${color}"/>`;
  const label = (x, y, text, rest = "") => `<text x="${x}" y="${y}" ${rest}>${text}</text>`;
  const middle = (left + right) / 2;
  const parts = [label(middle, 22, title, 'text-anchor="middle" font-size="16"')];
  for (const { at, value, isPower } of x.marks) {
    parts.push(line(at, top, at, bottom, isPower ? "#CCC" : "#F5F5F5"));
    if (isPower) parts.push(label(at, bottom + 15, value, 'text-anchor="middle"'));
  }
  for (const { at, value, isPower } of y.marks) {
    parts.push(line(left, at, right, at, isPower ? "#CCC" : "#F5F5F5"));
    if (isPower) parts.push(label(left - 8, at + 4, value, 'text-anchor="end"'));
  }
  parts.push(`<path d="M${left} ${top}V${bottom}H${right}" fill="none" stroke="#000"/>`);
  parts.push(label(middle, 425, "longest wait of a thread or task, ms (less is better)", 'text-anchor="middle" font-size="12"'));
  const turned = `transform="rotate(270, 20, ${(top + bottom) / 2})"`;
  parts.push(label(20, (top + bottom) / 2, "acquisitions, million/s (more is better)", `text-anchor="middle" font-size="12" ${turned}`));

  const dots = points.map(({ name, wait, rate, share, isRing }, index) => ({
    x: x.at(wait),
    y: y.at(rate),
    radius: name === OURS ? 8 : 5,
    color: COLORS[index % COLORS.length],
    isRing,
    isOurs: name === OURS,
    text: share === undefined ? name : `${name} ${Math.round(100 * share)} %`,
  }));
  parts.push(legend(middle, dots, points));
  labels(dots, frame).forEach(({ x, y }, index) => {
    const { text, color, isOurs, ...dot } = dots[index];
    const [nearX, nearY] = [Math.min(Math.max(dot.x, x), x + width(text)), y - 4];
    if (Math.hypot(nearX - dot.x, nearY - dot.y) > FAR) parts.push(line(dot.x, dot.y, nearX, nearY, color));
    parts.push(label(x, y, text, `font-size="13" fill="${color}"${isOurs ? ' font-weight="bold"' : ""}`));
  });
  for (const { x, y, radius, color, isRing } of dots) {
    parts.push(`<circle cx="${x}" cy="${y}" r="${radius}" fill="${isRing ? "#FFF" : color}" stroke="${color}" stroke-width="2"/>`);
  }
  return (
    '<svg width="860" height="440" viewBox="0 0 860 440" xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="11">\n' +
    `<rect width="860" height="440" fill="#FFF"/>\n${parts.join("\n")}\n</svg>\n`
  );
}

/** What the percentages and the rings mean, where there are any. */
function legend(middle, dots, points) {
  const texts = [];
  if (points.some(({ share }) => share !== undefined)) texts.push("%: share of the tasks in all acquisitions");
  if (dots.some(({ isRing }) => isRing)) texts.push("○ lock for threads only: a task that waits blocks its worker thread");
  return `<text x="${middle}" y="43" text-anchor="middle" font-size="12">${texts.join(" · ")}</text>`;
}

/** The width of a label, roughly: ours is bold. */
const width = (text) => (text.startsWith(OURS) ? 9 : 7.6) * text.length;
const HEIGHT = 13;
/** A label that is farther from its dot is connected with it by a line. */
const FAR = 16;

/** Where each dot's label begins: at the nearest place, in a few directions, where it meets neither a dot nor an earlier label. */
function labels(dots, { left, right, top, bottom }) {
  const meets = (one, other) =>
    one.x1 < other.x2 && other.x1 < one.x2 && one.y1 < other.y2 && other.y1 < one.y2;
  const taken = dots.map(({ x, y, radius }) => ({ x1: x - radius - 2, x2: x + radius + 2, y1: y - radius - 2, y2: y + radius + 2 }));
  return dots.map(({ x, y, radius, text }) => {
    for (let away = radius + 4; ; away += 4) {
      const places = [
        [x + away, y + 4], [x - away - width(text), y + 4],
        [x - width(text) / 2, y - away], [x - width(text) / 2, y + away + 10],
        [x + away, y - away], [x + away, y + away + 10], [x - away - width(text), y - away], [x - away - width(text), y + away + 10],
      ].map(([x, y]) => ({ x1: Math.round(x), x2: Math.round(x + width(text)), y1: y - HEIGHT + 2, y2: y + 3 }));
      const isFree = (it) =>
        it.x1 > left && it.x2 < right && it.y1 > top && it.y2 < bottom && !taken.some((other) => meets(it, other));
      const place = places.find(isFree) ?? (away > right ? places[0] : undefined);
      if (!place) continue;
      taken.push(place);
      return { x: place.x1, y: place.y2 - 3 };
    }
  });
}

/** A logarithmic axis between two places, with a mark at each digit of each power of ten. */
function axis(values, from, to) {
  const [low, high] = [Math.min(...values) / 2, Math.max(...values) * 2];
  const at = (value) => Math.round(from + ((to - from) * Math.log(value / low)) / Math.log(high / low));
  const marks = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power < high; power++) {
    for (let digit = 1; digit < 10; digit++) {
      const value = Number(`${digit}e${power}`);
      if (value >= low && value <= high) marks.push({ at: at(value), value, isPower: digit === 1 });
    }
  }
  return { at, marks };
}

/** Writes files, each a name and a text, and the pictures. */
export function keep(workloads, folder, files) {
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of [...files, ...workloads.flatMap(pictures)]) {
    writeFileSync(join(folder, file), text);
    console.error(`wrote ${join(folder, file)}`);
  }
}

/** Throws if a goal is about an operation that waitword has no figures of, or that the peer it names has none of. */
export function demandFigures(workloads) {
  for (const { name, goals, figures } of workloads) {
    const has = (what, peer) => figures.some((it) => it.contender === peer && it.what === what);
    for (const [what, text] of Object.entries(goals).flatMap(([what, texts]) => [texts].flat().map((text) => [what, text]))) {
      const { own, also, whose } = text.match(GOAL)?.groups ?? {};
      const peers = ["best", "smallest", undefined].includes(whose) ? [OURS] : whose.split(" or ");
      const known = what === "*" || (has(what, OURS) && peers.some((peer) => has(what, peer)));
      if (!known || [own, also].some((other) => other && !has(other, OURS))) throw new Error(`${name}: no figures for ${what} ${text}`);
    }
  }
}

/** The crates that are measured beside ours, with their versions in this build. */
function peers() {
  const names = [
    "async-lock", "event-listener", "futures-intrusive", "maitake-sync", "parking_lot", "parking_lot_core", "saa", "tokio", "usync",
  ];
  const lock = readFileSync(new URL("../Cargo.lock", import.meta.url), "utf8");
  // Of two versions the later one is ours; the lock file lists it last.
  const versions = new Map([...lock.matchAll(/name = "(.+)"\nversion = "(.+)"/g)].map(([, name, version]) => [name, version]));
  return names.map((name) => `${name} ${versions.get(name)}`);
}

async function main() {
  const { values } = parseArgs({ options: { out: { type: "string" }, check: { type: "boolean" } } });
  const known = JSON.parse(readFileSync(new URL("workloads.json", import.meta.url), "utf8"));
  const workloads = read(await text(process.stdin), known);
  process.stdout.write(tables(workloads));
  if (values.check) demandFigures(workloads);
  if (values.out === undefined) return;
  const what = { by: "cargo xtask bench", against: peers(), figures: "figures.csv" };
  keep(workloads, values.out, [["README.md", page(workloads, what)]]);
}

if (import.meta.filename === process.argv[1]) await main();
