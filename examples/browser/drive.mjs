// Serves the page, or tests it in headless browsers: node drive.mjs [--test [--picture FILE] [BROWSER…]]
//
// The browsers that are found are Chromium and Firefox; in both the page also runs as if `Atomics.waitAsync` were missing.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CHROMIUM, FIREFOX, find, serve, version, visit } from '../../packages/waitword/tests/browser/drive.mjs';

const LONGEST = 50; // milliseconds between two frames
const HELD = 120; // for how many milliseconds the slow worker holds the lock
const ATTEMPTS = 3; // other programs may take the processor from the browser

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
    if (browser === undefined) console.log(`== skipped: the page in ${i ? 'Firefox' : 'Chromium'}, which is not installed`);
    else for (const query of ['?test', '?test&fallback']) failed = !(await passes(browser, query)) || failed;
  }
  process.exit(failed ? 1 : 0);
}

async function passes(browser, query) {
  console.log(`== the page in ${version(browser)}, /${query}`);
  let isBusy = true; // in each attempt, whatever the page did
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const site = await serve(folders);
    const isPictured = picture && !browser.includes('firefox') && !query.includes('fallback');
    const outcome = await visit(browser, site, `/${query}`, { picture: isPictured ? picture : undefined, size: [1120, 905] });
    site.close();
    const faults = faultsOf(outcome, browser.includes('firefox'));
    for (const name of ['awaits', 'spins', 'unlocked']) console.log(`  ${name.padEnd(9)}${describe(outcome[name])}`);
    console.log(`  ${'draws'.padEnd(9)}without counting: longest gap ${outcome.idle?.toFixed(1)} ms`);
    if (faults.length === 0) return true;
    console.log(`  attempt ${attempt}: ${faults.join('; ')}`);
    // A lost count, or a page that does not stand still, is no matter of speed.
    if (!faults.every((fault) => fault.startsWith('longest gap'))) return false;
    // Two pages that wait for no lock: one beside nobody, one beside the four workers.
    isBusy &&= outcome.idle >= LONGEST || outcome.unlocked.longest >= LONGEST;
  }
  if (isBusy) console.log('== skipped: the gap between frames, for this machine is too busy for a page that waits for no lock');
  return isBusy;
}

function faultsOf({ error, awaits, spins, unlocked, agents }) {
  if (error) return [error];
  const faults = [];
  const check = (condition, fault) => condition || faults.push(fault);
  for (const [name, run] of Object.entries({ awaits, spins })) {
    check(run.total === run.counted, `${name}: ${run.lost} counts lost of ${run.counted}`);
    run.counts.forEach((count, i) => check(count > 0, `${name}: ${agents[i]} never counted`));
  }
  check(unlocked.lost > 0, 'without the lock nothing was lost: the test shows nothing');
  // The page is at most a frame or two late for the moment when the lock is taken for long.
  check(spins.longest >= (2 / 3) * HELD, `a page that spins does not stand still: ${spins.longest} ms`);
  check(awaits.longest < LONGEST, `longest gap between frames: ${awaits.longest.toFixed(1)} ms`);
  return faults;
}

function describe(run) {
  if (!run) return '-';
  const { counted, lost, longest, counts } = run;
  return `counted ${counted}, lost ${lost}, longest gap ${longest.toFixed(1)} ms, by agent ${counts.join(' ')}`;
}
