// The lock of the repository's article examples and ours are one lock on one word. And the article's own listing, where a text of it is
// given (WAITWORD_ARTICLE=FILE): its lock has two states, so it protects beside ours only with words of its own.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { AsyncLock } from '../../src/index.js';
import { assert, equal, run, test } from '../harness.js';

const repository = fileURLToPath(new URL('../../../..', import.meta.url));
const ROUNDS = 5_000;

/** `count` workers that each take the lock of `source` on word 0 ROUNDS times and increment word 1; this agent does too, with ours. */
async function together(count, source, ours) {
  const words = new Int32Array(new SharedArrayBuffer(8));
  const code = `${source}
    const { workerData: words } = require('node:worker_threads');
    const lock = make(words.buffer);
    for (let i = 0; i < ${ROUNDS}; i++) { lock.lock(); words[1]++; lock.unlock(); }`;
  const workers = Array.from({ length: count }, () => new Worker(code, { eval: true, workerData: words }));
  const ends = workers.map((worker) => new Promise((exit, fail) => worker.on('exit', exit).on('error', fail)));
  const here = await ours(words);
  await Promise.all(ends);
  equal(words[1], count * ROUNDS + here);
}

test('the three-state lock of examples/article and ours are one lock', async () => {
  const file = path.join(repository, 'examples/article/three-state-lock.js');
  const source = `${readFileSync(file, 'utf8')}; const make = (buffer) => new ThreeStateLock(buffer);`;
  await together(2, source, async (words) => {
    const lock = new AsyncLock(words);
    for (let i = 0; i < 500; i++) await lock.executeLocked(() => words[1]++);
    return 500;
  });
});

test("the article's lock: its workers and its executeLocked lose no count, and ours takes its word over", async () => {
  const file = process.env.WAITWORD_ARTICLE;
  if (!file) return 'give a text of the article with fenced code as WAITWORD_ARTICLE=FILE';
  const listing = articleLock(readFileSync(path.resolve(repository, file), 'utf8'));
  const source = `${listing}; const make = (buffer) => new AsyncLock(buffer);`;
  await together(2, source, async (words) => {
    const lock = new (new Function(`${listing}; return AsyncLock;`)())(words.buffer);
    for (let i = 0; i < 500; i++) await new Promise((done) => lock.executeLocked(() => done(words[1]++)));
    // Unlocked is free: once its users have gone, the word is ours.
    const ours = new AsyncLock(words.buffer);
    ours.lock();
    equal(words[0], AsyncLock.LOCKED);
    let entered = false;
    lock.executeLocked(() => (entered = true));
    assert(!entered, 'locked by ours is LOCKED for the article');
    ours.unlock();
    return 500;
  });
});

/** The class of the article, with the methods of its later listings in place of the empty ones. */
function articleLock(text) {
  const code = [...text.matchAll(/```js\n(.*?)```/gs)].map(([, block]) => block);
  const start = code.find((block) => block.startsWith('class AsyncLock'));
  const method = (name) => code.find((block) => block.startsWith(`${name}(`));
  return ['lock', 'unlock', 'executeLocked'].reduce(
    (source, name) => source.replace(new RegExp(`  ${name}\\(\\w*\\) \\{\\s*/\\*.*?\\*/\\s*\\}`, 's'), () => method(name)),
    start,
  );
}

await run();
