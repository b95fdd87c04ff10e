// The report, and the runner of scripts: node --test benches/tests.mjs

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { Reading, ending, engine, median, named, programs } from "./js/run.mjs";
import { checks, csv, demandFigures, page, pictures, read, short, tables } from "./report.mjs";

/** A workload named test, with a median for each row: contender, operation, n, unit, value. */
function workload(goals, rows) {
  const figures = rows.map(([contender, what, n, unit, median]) => ({ contender, what, n, unit, median, least: median, most: median }));
  return { name: "test", about: "About.", goals, failures: new Map(), figures };
}

const judged = (workload) =>
  checks(workload).map(({ met, what, n, ours, target, because }) => [met, `${what}, N = ${n}: ${ours}, goal ${target}${because}`]);

test("a goal is judged where it is met worst", () => {
  const goals = { wait: ["≤ 2 × peer", "≤ 2 × peer, largest N", "≤ 40", "≤ 2 × smallest", "≤ 3 × our rest", "≤ 2 × gone or peer"] };
  const rows = [["waitword", "wait", 1, "ns", 10], ["waitword", "wait", 1000, "ns", 30], ["waitword", "rest", 1000, "ns", 11]];
  const peers = [["peer", "wait", 1, "ns", 4], ["peer", "wait", 1000, "ns", 20]];
  assert.deepEqual(judged(workload(goals, [...rows, ...peers])), [
    [false, "wait, N = 1: 10 ns, goal ≤ 8 ns (2.00 × peer)"],
    [true, "wait, N = 1000: 30 ns, goal ≤ 40 ns (2.00 × peer)"],
    [true, "wait, N = 1000: 30 ns, goal ≤ 40 ns"],
    [false, "wait, N = 1000: 30 ns, goal ≤ 20 ns (2.00 × that at N = 1)"],
    [true, "wait, N = 1000: 30 ns, goal ≤ 33 ns (3.00 × rest)"],
    [false, "wait, N = 1: 10 ns, goal ≤ 8 ns (2.00 × peer)"],
  ]);
  assert.deepEqual(judged(workload({ wait: "≤ 2 × smallest" }, rows.slice(0, 1))), []);
});

test("more is better where a goal says at least", () => {
  const goals = { rate: ["≥ 0.5 × fast", "≥ 1 × best", "≥ 1 × best with even ≥ 0.5"], even: "≥ 0.75, N = 4" };
  const of = (contender, [two, four], [evenAtTwo, evenAtFour]) => [
    [contender, "rate", 2, "per second", two], [contender, "rate", 4, "per second", four],
    [contender, "even", 2, "ratio", evenAtTwo], [contender, "even", 4, "ratio", evenAtFour],
  ];
  const rows = [
    ...of("waitword", [3e6, 2e6], [0.1, 0.75]), ...of("fast", [4e6, 8e6], [0, 0]),
    ...of("fair", [1e6, 1e6], [1, 1]), ...of("none (limit)", [9e6, 9e6], [1, 1]),
  ];
  assert.deepEqual(judged(workload(goals, rows)), [
    [false, "rate, N = 4: 2.00 M/s, goal ≥ 4.00 M/s (0.50 × fast)"],
    [false, "rate, N = 4: 2.00 M/s, goal ≥ 8.00 M/s (fast, the best)"],
    [true, "rate, N = 4: 2.00 M/s, goal ≥ 1.00 M/s (fair, the best with even ≥ 0.5)"],
    [true, "even, N = 4: 0.75, goal ≥ 0.75"],
  ]);
});

test("the goals of * are those of the operations without goals of their own, and none is about nothing", () => {
  const rows = ["wait", "wake", "rest"].map((what) => ["waitword", what, 1, "ns", 3]);
  const all = workload({ wait: "≤ 2", "*": "≤ 4" }, rows);
  assert.deepEqual(judged(all).map(([met, text]) => [met, text.split(",")[0]]), [[false, "wait"], [true, "wake"], [true, "rest"]]);
  demandFigures([all]);
  const wrong = [{ wiat: "≤ 2" }, { wait: "≤ 2 × peer" }, { wait: "≤ 2 × our rset" }];
  for (const goals of wrong) assert.throws(() => demandFigures([workload(goals, rows)]), /no figures/);
  assert.throws(() => checks(workload({ wait: "≤ many" }, rows)), /no goal/);
});

test("a row has all contenders and says whether its goals are met", () => {
  const goals = { rate: ["≥ 1,000,000", "≥ 1 × slow"], share: ["≥ 0.5", "≥ 0.75"] };
  const of = (contender, [two, sixteen]) => [
    [contender, "rate", 2, "per second", two], [contender, "rate", 16, "per second", sixteen],
  ];
  const rates = [...of("waitword", [2e6, 3e6]), ...of("slow", [4e6, 1e6]), ...of("fast", [1e6, 6e6]), ...of("none (limit)", [9e6, 9e6])];
  const all = [workload(goals, [...rates, ["waitword", "share", 16, "ratio", 0.2], ["slow", "share", 16, "ratio", 0.8]])];
  assert.equal(
    tables(all),
    `
## test

About.

|  | N | waitword | slow | fast | none (limit) | ÷ best | goal |
|---|---|---|---|---|---|---|---|
| rate | 2 | 2.00 M/s | **4.00 M/s** | 1.00 M/s | 9.00 M/s | 0.50 | **missed:** ≥ 4.00 M/s |
| rate | 16 | 3.00 M/s | 1.00 M/s | **6.00 M/s** | 9.00 M/s | 0.50 |  |
| share | 16 | 0.20 | 0.80 | – | – | – | **missed:** ≥ 0.50; ≥ 0.75 |
`,
  );
  const missed = `
| test: rate (2) | 2.00 M/s | ≥ 4.00 M/s (slow) |
| test: share (16) | 0.20 | ≥ 0.50; ≥ 0.75 |
`;
  assert.ok(page(all, { by: "measure", against: [], figures: "all.csv" }).endsWith(missed));
});

test("who does not finish is behind, and is told of", () => {
  const all = workload({ wait: "≤ 1 × slow" }, [["waitword", "wait", 1, "ns", 3]]);
  all.failures.set("slow", "over 45 s");
  assert.deepEqual(judged(all), [[true, "wait, N = 1: 3 ns, goal to be ahead of slow, which did not finish"]]);
  assert.ok(tables([all]).endsWith("\ntest: **slow did not finish:** over 45 s\n"));
});

test("CSV is read as it was written", () => {
  const lines = [
    "workload,operation,n,contender,unit,median,least,most,wall",
    'test,"wait, then",8,"waitword",ns,2,1,123500,2',
    'test,"size",1,"peer, other",B,0,0,0,',
  ];
  const all = read(`${lines.join("\n")}\n`, { test: { about: "", goals: {} } });
  assert.equal(all[0].figures[0].most, 123_500);
  all[0].figures[0].most = 123_456;
  assert.equal(csv(all), `${lines.join("\n")}\n`);
  assert.throws(() => read(`${lines.join("\n")}\n`, {}), /has no test/);
});

test("there is a picture for each size even without a wait", () => {
  const rows = [4, 16].flatMap((n) => ["waitword", "peer"].flatMap((contender) => [
    [contender, "acquisitions", n, "per second", 1e6 * n],
    ...["longest wait of a thread", "longest wait of a task"].map((what) => [contender, what, n, "ns", 0]),
  ]));
  const all = pictures(workload({}, rows));
  assert.deepEqual(all.map(([file]) => file), ["test-4.svg", "test-16.svg"]);
  for (const [, svg] of all) assert.ok(svg.includes("waitword") && svg.includes("peer") && !/NaN|Infinity|undefined/.test(svg));
  assert.deepEqual(pictures(workload({}, rows.filter(([, what]) => what !== "acquisitions"))), []);
});

test("a picture names each dot beside it, with a colour of its own and the tasks' share, and says what a ring is", () => {
  const peers = ["waitword", "near", "nearer", "nearest", ..."abcdefgh"];
  const rows = peers.flatMap((contender, at) => [
    [contender, "acquisitions", 16, "per second", 1e6 * (1 + at / 100)],
    [contender, "share of the tasks", 16, "ratio", 0.41],
    ...["longest wait of a thread", "longest wait of a task"].map((what) => [contender, what, 16, "ns", 1e6]),
  ]);
  const [[, svg]] = pictures({ ...workload({}, rows), picture: { title: "N threads and N tasks on one mutex", rings: ["near"] } });
  assert.ok(svg.includes(">16 threads and 16 tasks on one mutex</text>"));
  assert.ok(svg.includes("○ lock for threads only"));
  assert.equal(svg.match(/<circle [^>]*fill="#FFF"/g).length, 1);
  const labels = [...svg.matchAll(/<text x="(\d+)" y="(\d+)" font-size="13" fill="(#\w+)"[^>]*>(\S+) 41 %<\/text>/g)];
  assert.deepEqual(labels.map(([, , , , name]) => name), peers);
  assert.equal(new Set(labels.map(([, , , color]) => color)).size, peers.length);
  // In one column, or beside each other: none on another.
  for (const [at, [, x, y]] of labels.entries())
    for (const [, otherX, otherY] of labels.slice(0, at)) assert.ok(Math.abs(y - otherY) >= 13 || Math.abs(x - otherX) >= 40);
});

test("figures are short, and the median ignores one bad round", () => {
  const figures = [[7.24, "ns"], [640_000, "ns"], [80, "B"], [0.0003, "count"], [4.6e6, "per second"], [47_100, "per second"], [0.052, "ratio"]];
  const texts = figures.map(([value, unit]) => short(value, unit));
  assert.deepEqual(texts, ["7.2 ns", "640 µs", "80 B", "0", "4.60 M/s", "47 k/s", "0.05"]);
  assert.equal(median([3, 900, 1]), 3);
  assert.equal(median([4, 2]), 3);
});

test("a named engine has a name and a command, and one that is not there is not measured", () => {
  assert.deepEqual(named("mine=/opt/node --expose-gc"), { name: "mine", command: ["/opt/node", "--expose-gc"] });
  for (const wrong of ["mine", "=node", "mine= "]) assert.throws(() => named(wrong));
  assert.equal(engine("none", ["no engine of JavaScript has this name"]), undefined);
  assert.equal(engine("node", ["node"]).title, `node ${process.versions.node}`);
});

test("figures are read and strange ones refused; memory is looked at from outside", () => {
  const figures = [];
  const reading = new Reading([{ name: "each" }], (...figure) => figures.push(figure));
  const line = (line) => reading.line(typeof line === "string" ? line : JSON.stringify(line), process.pid);
  line({ name: "each", n: 3, unit: "nanos", value: 2.5 });
  assert.deepEqual(figures, [["each", 3, "ns", 2.5]]);
  const each = { name: "each", n: 3, unit: "nanos", value: 2.5 };
  for (const wrong of [{ ...each, name: "other" }, { ...each, unit: "miles" }, { ...each, more: 1 }, { name: "each" }, "done"])
    assert.throws(() => line(wrong));
  line({ mark: "before" });
  const held = Buffer.alloc(64 << 20, 1);
  line({ name: "each", n: 1024, grownSince: "before" });
  if (process.platform === "linux") assert.ok(figures[1][3] > 32 << 10 && figures[1][3] < 1 << 20, `${figures[1]} of ${held.length}`);
});

test("how a program failed is told in a line", () => {
  const complaints = "file:///a.js:1\n  boom();\n  ^\n\nTypeError: no boom\n    at a.js:1";
  assert.equal(ending(1, null, complaints), "exit code 1: TypeError: no boom");
  assert.equal(ending(1, null, ""), "exit code 1");
  assert.equal(ending(null, "SIGKILL", "\nKilled\n"), "signal SIGKILL: Killed");
});

test("each program is listed and each that is listed is there", () => {
  const there = readdirSync(new URL("js", import.meta.url)).filter((file) => file.endsWith(".js"));
  assert.deepEqual(there.sort(), programs().map(({ name }) => `${name}.js`).sort());
});
