// The tests in every engine that is installed: node tests/engines.mjs [ENGINE…]
//
// ENGINE: node, deno, bun, waitword (WAITWORD is the command, else ../../target/{release,debug}/waitword), chromium, firefox.
// An engine that is missing is skipped, aloud. One that is named has to be there. Node runs those of tests/node as well.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CHROMIUM, FIREFOX, SECONDS, find, serve, skip, version, visit } from './browser/drive.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const TESTS = ['basics.test.js', 'stress.test.js', 'fallback.test.js'];
const IN_NODE = readdirSync(`${root}tests/node`).filter((name) => name.endsWith('.test.js')).map((name) => `node/${name}`);
const built = ['release', 'debug'].map((profile) => `${root}../../target/${profile}/waitword`).filter(existsSync);

const ENGINES = {
  node: [['node'], []],
  deno: [['deno'], ['run', '-A']],
  bun: [['bun'], []],
  waitword: [[process.env.WAITWORD, ...built, 'waitword'].filter(Boolean), ['run']],
  chromium: [[process.env.CHROMIUM, ...CHROMIUM].filter(Boolean)],
  firefox: [[process.env.FIREFOX, ...FIREFOX].filter(Boolean)],
};

const named = process.argv.slice(2);
let failed = false;
for (const engine of named.length > 0 ? named : Object.keys(ENGINES)) {
  const [names, flags] = ENGINES[engine];
  const command = find(names);
  if (command === undefined) {
    skip(`the npm package in ${engine}`, `${names.at(-1)} is not installed`);
    failed ||= named.length > 0;
    continue;
  }
  console.log(`== the npm package in ${engine}: ${version(command)}`);
  if (flags === undefined) await inPage(command);
  else for (const name of [...TESTS, ...(engine === 'node' ? IN_NODE : [])]) await inProgram(command, flags, name);
}
process.exit(failed ? 1 : 0);

async function inProgram(command, flags, name) {
  const child = spawn(command, [...flags, `${root}tests/${name}`], { stdio: ['ignore', 'pipe', 'pipe'] });
  const limit = setTimeout(() => child.kill('SIGKILL'), SECONDS * 1000);
  const texts = [child.stdout, child.stderr].map(async (stream) => {
    let text = '';
    for await (const part of stream.setEncoding('utf8')) {
      text += part;
      limit.refresh();
    }
    return text;
  });
  const status = await new Promise((exit) => child.on('exit', exit).on('error', exit));
  const [lines, errors] = await Promise.all(texts);
  clearTimeout(limit);
  report(name, status === 0, lines.split('\n'), errors);
}

async function inPage(browser) {
  const site = await serve({ '/': root });
  for (const name of TESTS) {
    const { passed, lines } = await visit(browser, site, `/tests/browser/page.html?${name}`);
    report(name, passed, lines, '');
  }
  site.close();
}

function report(name, passed, lines, errors) {
  failed ||= !passed;
  const skipped = lines.filter((line) => line.includes('# skipped'));
  console.log(`${name} ${lines.findLast((line) => line.startsWith('# ')) ?? `# did not end: it ended badly, or printed nothing for ${SECONDS} s`}`);
  for (const line of passed ? skipped : [...lines, errors]) console.log(`  ${line}`);
}
