// Compares the locks in a page of headless Chromium: node bench/bench.mjs [--rounds N] [--seconds N]
// Three workers block for the lock, and the page acquires it ten times per frame. Prints medians.
import { fileURLToPath } from 'node:url';
import { CHROMIUM, find, serve, version, visit } from '../tests/browser/drive.mjs';

const option = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
};
const [rounds, seconds] = [option('rounds', 3), option('seconds', 3)];
const folder = (path) => fileURLToPath(new URL(path, import.meta.url));
const browser = find(CHROMIUM);
if (!browser) throw new Error('Chromium is not installed: apt-get install chromium');

const site = await serve({ '/waitword/': folder('..'), '/examples/': folder('../../../examples') });
const results = await visit(browser, site, `/waitword/bench/page.html?rounds=${rounds}&seconds=${seconds}`);
site.close();

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const columns = {
  alone: ['alone, ns', 1],
  perSecond: ['counts/s', 0],
  page: ['of them page', 0],
  evenness: ['least/most worker', 2],
  gap: ['longest frame gap, ms', 0],
  wait: ["page's longest wait, ms", 0],
  workersWait: ["workers' longest wait, ms", 0],
};
console.log(`${version(browser)}, medians of ${rounds} rounds of ${seconds} s\n`);
console.log(`| | ${Object.values(columns).map(([title]) => title).join(' | ')} |\n|---|${'---|'.repeat(Object.keys(columns).length)}`);
for (const [name, runs] of Object.entries(results)) {
  const cells = Object.entries(columns).map(([key, [, digits]]) => median(runs.map((run) => run[key])).toFixed(digits));
  console.log(`| ${name} | ${cells.join(' | ')} |`);
}
