// Serves the page, or tests it in headless browsers: node drive.mjs [--test [--picture FILE] [BROWSER…]]
//
// The browsers that are found are Chromium and Firefox; in both the page also runs as if `Atomics.waitAsync` were missing.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CHROMIUM, FIREFOX, find, serve, skip, version, visit } from '../../packages/waitword/tests/browser/drive.mjs';

const LONGEST = 50; // milliseconds between two frames
const HELD = 120; // for how many milliseconds the slow worker holds the lock
const RARE = 1 / 1000; // how seldom a page that is as good as the control is called slower

const folder = (path) => fileURLToPath(new URL(path, import.meta.url));
const wasm = folder('../../target/web/example');
const folders = { '/': folder('.'), '/waitword/': folder('../../packages/waitword'), '/wasm/': wasm };
if (!existsSync(wasm)) console.log('== without Rust: `cargo xtask web` builds the wasm for two of the workers');

const args = process.argv.slice(2);
const option = (name) => {
  const at = args.indexOf(name);
  return at < 0 ? undefined : args.splice(at, 2)[1];
};
const picture = option('--picture');
if (!args.includes('--test')) {
  const { url } = await serve(folders, 8080).catch(() => serve(folders));
  console.log(`The page: ${url}   (Ctrl-C ends)`);
} else {
  const named = args.filter((argument) => argument !== '--test');
  const browsers = named.length > 0 ? named : [find(CHROMIUM), find(FIREFOX)];
  let failed = false;
  for (const [i, browser] of browsers.entries()) {
    if (browser === undefined) skip(`the page in ${i ? 'Firefox' : 'Chromium'}`, 'it is not installed');
    else for (const query of ['?test', '?test&fallback']) failed = !(await passes(browser, query)) || failed;
  }
  process.exit(failed ? 1 : 0);
}

async function passes(browser, query) {
  console.log(`== the page in ${version(browser)}, /${query}`);
  const site = await serve(folders);
  const isPictured = picture && !browser.includes('firefox') && !query.includes('fallback');
  const outcome = await visit(browser, site, `/${query}`, { picture: isPictured ? picture : undefined, size: [1120, 905] });
  site.close();
  const { faults, isBlind } = judge(outcome);
  for (const way of ['awaits', 'spins', 'abstains']) console.log(`  ${way.padEnd(9)}${describe(outcome.rounds.map((runs) => runs[way]))}`);
  if (outcome.unlocked) console.log(`  ${'unlocked'.padEnd(9)}${describe([outcome.unlocked])}`);
  faults.forEach((fault) => console.log(`  FAILED: ${fault}`));
  if (isBlind) skip('the gap between frames', 'this machine is so busy that even a page that spins is not told from one that waits for no lock');
  return faults.length === 0;
}

function judge({ error, rounds, unlocked, agents, note }) {
  if (error) return { faults: [error] };
  const faults = [];
  const check = (condition, fault) => condition || faults.push(fault);
  for (const way of ['awaits', 'spins', 'abstains']) {
    const all = sum(rounds.map((runs) => runs[way]));
    check(all.lost === 0, `${way}: ${all.lost} counts lost of ${all.counted}`);
    all.counts.forEach((count, i) => check(count > 0 || (way === 'abstains' && i === 0), `${way}: ${agents[i]} never counted`));
  }
  check(unlocked.lost > 0, 'without the lock nothing was lost: the test shows nothing');
  // The page is at most a frame or two late for the moment when the lock is taken for long.
  const { longest } = sum(rounds.map((runs) => runs.spins));
  check(longest >= (2 / 3) * HELD, `a page that spins does not stand still: ${longest} ms`);
  check(!isSlower(rounds, 'awaits'), 'a page that awaits has longer gaps between frames than one that waits for no lock');
  check(note.startsWith(`${agents.at(-1)} holds the lock for ${HELD} ms`), `the slow worker is ${agents.at(-1)}, and the page says: ${note}`);
  return { faults, isBlind: !isSlower(rounds, 'spins') };
}

/**
 * Whether a way of waiting has longer gaps between frames, while the slow worker holds the lock, than the control (`abstains`): a paired
 * permutation test. If the two are alike, what else the machine does is as likely to fall on one as on the other. So of all ways to exchange
 * the two in some of the rounds, few would make the difference as large as it is.
 */
function isSlower(rounds, way) {
  // What is short enough is alike, and so is what is longer than the lock was held.
  const gap = (run) => Math.min(Math.max(run.longestWhileHeld, LONGEST), LONGEST + HELD);
  const differences = rounds.map((runs) => gap(runs[way]) - gap(runs.abstains));
  const total = (exchanged) => differences.reduce((all, difference, i) => all + ((exchanged >> i) & 1 ? -difference : difference), 0);
  const observed = total(0);
  let asLarge = 0;
  for (let exchanged = 0; exchanged < 2 ** rounds.length; exchanged++) asLarge += total(exchanged) >= observed;
  return asLarge < RARE * 2 ** rounds.length;
}

/** All runs of one way: their counts, and the longest gap of all. */
function sum(runs) {
  const add = (name) => runs.reduce((all, run) => all + run[name], 0);
  const counts = runs[0].counts.map((_, i) => runs.reduce((all, run) => all + run.counts[i], 0));
  // A count that is lost in one run is not made good by another.
  const lost = runs.reduce((all, run) => all + Math.abs(run.lost), 0);
  return { counted: add('counted'), lost, counts, longest: Math.max(...runs.map((run) => run.longestWhileHeld)) };
}

function describe(runs) {
  if (runs.length === 0) return '-';
  const { counted, lost, counts } = sum(runs);
  const gaps = (name) => {
    const sorted = runs.map((run) => run[name]).sort((a, b) => a - b);
    return [sorted[sorted.length >> 1], sorted.at(-1)].map((gap) => gap.toFixed(0)).join(' and ');
  };
  return `counted ${counted}, lost ${lost}, by agent ${counts.join(' ')}; longest gap of a round, median and most: `
    + `${gaps('longest')} ms, while held for long ${gaps('longestWhileHeld')} ms`;
}
