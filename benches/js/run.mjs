// The programs of this folder on waitword and on the engines beside it: cargo xtask bench-js [--help]
//
// A program prints lines (`support/report.js`); they are read as they come, for some ask for its memory at that moment.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { csv, keep, page, tables } from "../report.mjs";

const HELP = `Measure waitword beside Node, and beside Deno and Bun where they are installed, with the programs of benches/js.

Within a round every engine runs a program once. A complete run writes benches/results/js.md; a quick or filtered one only prints,
unless --out says where to write. The exit code is 1 if a program did not get to its end on some engine.

  --quick                 Fewer rounds and smaller crowds: good for a first impression, not for publication
  --filter REGEX          Run only the programs whose name matches this regular expression
  --rounds N              Rounds per program [default: 3, or 1 with --quick]
  --out DIR               Write the goals that are missed, and every engine's figures as CSV, to this folder
  --engine NAME=COMMAND   Measure this engine too: a name, and the words of its command line before the program's file, such as
                          d8=/opt/d8. Under the name of an engine that is found without this, it replaces that one
  --waitword FILE         The binary of waitword to measure [default: target/release/waitword]
`;

const OPTIONS = {
  quick: { type: "boolean", default: false },
  filter: { type: "string" },
  rounds: { type: "string" },
  out: { type: "string" },
  engine: { type: "string", multiple: true, default: [] },
  waitword: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
};

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

/** The engine that the others are compared with. */
const BASELINE = "node";

// Those that are measured wherever they are installed. Node's collector is at hand, so that garbage does not count as memory
// in use; Bun and Deno have none to offer.
const KNOWN = { node: ["node", "--expose-gc"], deno: ["deno", "run", "--allow-all"], bun: ["bun", "run"] };

/** `NAME=COMMAND`, with the command's words separated by spaces. */
export function named(argument) {
  const [, name, command] = argument.match(/^([^=]+)=\s*(\S.*?)\s*$/) ?? [];
  if (!name) throw new Error(`give a name and a command, such as node18=/opt/node18/bin/node, not ${argument}`);
  return { name, command: command.split(/\s+/) };
}

/** With its version, if it prints one; nothing if it does not run. */
export function engine(name, command) {
  const asked = spawnSync(command[0], ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  if (asked.error) return undefined;
  // "v20.1.0", or "deno 2.1.0 (stable, ...)"
  const version = asked.stdout.match(/(?:^|\s)v*(\d\S*)/)?.[1];
  return { name, title: version ? `${name} ${version}` : name, command };
}

/** Ours first, then those that are known and answer, then the others that the user names. */
function engines({ waitword, engine: others }) {
  const target = process.env.CARGO_TARGET_DIR ?? path("../../target");
  const file = waitword ?? `${target}/release/waitword${process.platform === "win32" ? ".exe" : ""}`;
  const ours = engine("waitword", [file, "run", "--main-can-block"]);
  if (!ours) throw new Error(`${file} does not run; build it: cargo build --release -p waitword-cli`);
  const asked = others.map(named);
  const known = Object.entries(KNOWN).filter(([name]) => !asked.some((other) => other.name === name));
  const found = asked.map(({ name, command }) => {
    const found = engine(name, command);
    if (!found) throw new Error(`${name}: ${command.join(" ")} does not run`);
    return found;
  });
  return [ours, ...known.map(([name, command]) => engine(name, command)).filter(Boolean), ...found];
}

/** The programs, each as a workload without figures, and with the goals of `programs.json`. */
export function programs() {
  return JSON.parse(readFileSync(path("programs.json"), "utf8")).map((program) => {
    const goals = {};
    for (const { name, at_most, ahead_of } of [...program.figures, program.whole].filter(Boolean)) {
      const all = [at_most === undefined ? [] : `≤ ${at_most}`, ahead_of === undefined ? [] : `≤ 1 × ${ahead_of}`].flat();
      if (all.length > 0) goals[name] = all;
    }
    return { ...program, file: path(`${program.name}.js`), goals, failures: new Map(), figures: [], listed: program.figures };
  });
}

/** How many bytes of the machine's memory a process holds, where the system tells. */
function resident(process) {
  const file = `/proc/${process}/status`;
  const kibibytes = existsSync(file) && readFileSync(file, "utf8").match(/^VmRSS:\s+(\d+)/m)?.[1];
  return kibibytes ? Number(kibibytes) * 1024 : undefined;
}

/** Reads what a program prints: calls `add` with its figures. */
export class Reading {
  #marks = new Map();

  constructor(listed, add) {
    this.listed = listed;
    this.add = add;
  }

  line(line, process) {
    const { name, n, unit, value, mark, grownSince } = parsed(line);
    if (mark !== undefined) {
      // Remember how much memory the process has.
      this.#marks.set(mark, resident(process));
      return;
    }
    if (!this.listed.some((figure) => figure.name === name)) throw new Error(`programs.json has no figure ${name}`);
    if (grownSince === undefined) return this.add(name, n, UNITS[unit], value);
    // How much more that is than at a mark, for each of `n`. Where the system does not report it, there is no figure.
    const grown = (resident(process) - this.#marks.get(grownSince)) / n;
    if (!Number.isNaN(grown)) this.add(name, n, "B", grown);
  }
}

const UNITS = { nanos: "ns", bytes: "B", count: "count", per_second: "per second", ratio: "ratio" };

// What a line has to have, each with its type.
const LINES = [
  { name: "string", n: "number", unit: "string", value: "number" },
  { mark: "string" },
  { name: "string", n: "number", grownSince: "string" },
];

function parsed(line) {
  try {
    const it = JSON.parse(line);
    const fits = (types) => Object.keys({ ...types, ...it }).every((key) => types[key] && typeof it[key] === types[key]);
    if (LINES.some(fits) && (it.unit === undefined || it.unit in UNITS)) return it;
  } catch {
    // As any other line that is none of these.
  }
  throw new Error(`this is no figure: ${line}`);
}

/** For how long a program may run, in milliseconds. The slowest needs a third of it where the machine does nothing else. */
const LIMIT = 45_000;

/** A process that is over at once is started several times. */
const STARTS = 10;

/** Runs a program on an engine. Throws the reason why there are not more figures. */
async function run({ command }, program, quick, add) {
  const printed = new Set();
  const reading = new Reading(program.listed, (what, ...figure) => {
    printed.add(what);
    add(what, ...figure);
  });
  const walls = [];
  for (let start = 0; start < (program.whole && !quick ? STARTS : 1); start++) {
    walls.push(await once([...command, program.file, ...(quick ? ["--quick"] : [])], reading));
  }
  const missing = program.listed.find(({ name }) => !printed.has(name));
  if (missing && process.platform === "linux") throw new Error(`it ended well, but did not print ${missing.name}`);
  if (program.whole) add(program.whole.name, 1, "ns", median(walls));
}

/** The wall time from the start of a process to its end, in nanoseconds. */
async function once([file, ...args], reading) {
  const start = performance.now();
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"] });
  let wrong;
  const stop = (why) => {
    wrong ??= why;
    child.kill("SIGKILL");
  };
  const timer = setTimeout(() => stop(`over ${LIMIT / 1000} s`), LIMIT);
  let wall;
  child.on("exit", () => (wall = performance.now() - start));
  const complaints = text(child.stderr);
  createInterface(child.stdout).on("line", (line) => {
    try {
      if (!wrong) reading.line(line, child.pid);
    } catch ({ message }) {
      stop(message);
    }
  });
  // All that it printed was read by then.
  const [code, signal] = await new Promise((resolve, reject) => {
    child.once("error", ({ message }) => reject(new Error(`cannot be started: ${message}`)));
    child.once("close", (...ended) => resolve(ended));
  }).finally(() => clearTimeout(timer));
  if (wrong) throw new Error(wrong);
  if (code !== 0) throw new Error(ending(code, signal, await complaints));
  return wall * 1e6;
}

/** "exit code 1: TypeError: ..." */
export function ending(code, signal, complaints) {
  const how = signal ? `signal ${signal}` : `exit code ${code}`;
  const lines = complaints.split("\n").map((line) => line.trim()).filter(Boolean);
  // Before the error itself some engines show where it was thrown.
  const first = lines.find((line) => line.includes("Error: ") || line.startsWith("FATAL")) ?? lines[0];
  return first ? `${how}: ${first}` : how;
}

/** The middle one, or the mean of the two in the middle. There is at least one. */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

/** Interleaved rounds: each begins with another engine. */
async function measure(program, engines, rounds, quick, tell) {
  const series = new Map();
  for (let round = 0; round < rounds; round++) {
    for (let next = 0; next < engines.length; next++) {
      const engine = engines[(round + next) % engines.length];
      tell(program.name, engine.name);
      // Who failed once would fail again, and take its time.
      if (program.failures.has(engine.name)) continue;
      const add = (what, n, unit, value) => {
        const key = JSON.stringify([engine.name, what, n]);
        if (!series.has(key)) series.set(key, { what, n, contender: engine.name, unit, values: [] });
        series.get(key).values.push(value);
      };
      await run(engine, program, quick, add).catch(({ message }) => program.failures.set(engine.name, message));
    }
  }
  program.figures = [...series.values()].map(({ values, ...figure }) => {
    return { ...figure, median: median(values), least: Math.min(...values), most: Math.max(...values) };
  });
}

/** Tells a terminal how far it is, and another reader of the errors when a program begins. */
function progress(all) {
  let done = 0;
  let last;
  return (program, engine) => {
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${++done} of ${all}: ${program}, ${engine}${done === all ? "\n" : ""}`);
    else if (program !== last) console.error(program);
    last = program;
  };
}

async function main() {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.help) return console.log(HELP);
  const { quick } = values;
  const rounds = Number(values.rounds ?? (quick ? 1 : 3));
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error("--rounds wants a number from 1 on");
  const all = programs();
  const chosen = all.filter(({ name }) => new RegExp(values.filter ?? "").test(name));
  if (chosen.length === 0) throw new Error(`nothing matches the filter; there are: ${all.map(({ name }) => name).join(", ")}`);
  const measured = engines(values);
  const hasBaseline = measured.some(({ name }) => name === BASELINE);
  if (!hasBaseline) console.error(`${BASELINE} is not installed: there is nothing to be ahead of`);
  const tell = progress(chosen.length * rounds * measured.length);
  for (const program of chosen) await measure(program, measured, rounds, quick, tell);
  process.stdout.write(tables(chosen));
  const complete = hasBaseline && !quick && values.filter === undefined && values.rounds === undefined;
  const folder = values.out ?? (complete ? path("../results") : undefined);
  if (folder !== undefined) {
    const against = measured.slice(1).map(({ title }) => title);
    const text = page(chosen, { by: "cargo xtask bench-js", against, figures: "js.csv" });
    keep(chosen, folder, [["js.md", text], ["js.csv", csv(chosen)]]);
  }
  if (chosen.some(({ failures }) => failures.size > 0)) process.exitCode = 1;
}

if (import.meta.filename === process.argv[1]) {
  await main().catch(({ message }) => {
    console.error(message);
    process.exitCode = 1;
  });
}
