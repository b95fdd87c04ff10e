// The examples of the README run as they stand, and what it says of Node is so.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as library from '../../src/index.js';
import { equal, run, test } from '../harness.js';

const root = new URL('../..', import.meta.url);
const examples = [...readFileSync(new URL('README.md', root), 'utf8').matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);

examples.forEach((code, number) => {
  test(`example ${number + 1}`, async () => {
    const source = code.replace("'waitword'", `'${new URL('src/index.js', root)}'`);
    await import(`data:text/javascript,${encodeURIComponent(source)}`);
  });
});

/** How a program ends that imports the package and then waits for a lock that is held. */
function ends(wait) {
  const source = `import { AsyncLock } from '${new URL('src/index.js', root)}'; const lock = new AsyncLock(); lock.lock(); await ${wait}`;
  return spawnSync(process.execPath, ['--input-type=module', '--eval', source], { stdio: 'ignore' }).status;
}

test('a timeout and a signal keep a program alive, and nothing else does', () => {
  equal(ends('lock.lockAsync()'), 13);
  equal(ends('lock.lockAsync({ timeout: 50 })'), 0);
  equal(ends("lock.lockAsync({ signal: AbortSignal.timeout(50) }).catch(({ name }) => process.exit(name === 'TimeoutError' ? 0 : 1))"), 0);
});

test('each Node that package.json allows can require the package', () => {
  const require = createRequire(import.meta.url);
  const { engines } = require('../../package.json');
  equal(engines.node, '^20.19.0 || >=22.12.0'); // the first of each line that can require modules
  equal(Object.keys(require('waitword')).filter((name) => name in library).length, Object.keys(library).length);
});

await run();
