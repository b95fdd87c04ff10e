// The page: starts the workers, counts beside them without blocking, and draws. `drawing.js` is the picture, `test.js` drives a test.
import { AsyncLock } from '/waitword/src/index.js';
import { Drawing } from './drawing.js';
import { startWorkers } from './workers.js';
import { COUNT, COUNTER, HOLDS, HOLDS_LONG, INSIDE, LOCKED, OUTSIDE, PAUSES, RUN, SLOW, SLOW_WORKER, STATE, WAITS, WORKS, increment } from './words.js';

const PAGE = 0; // the number of this agent; the workers are 1 to 4
const PER_FRAME = 10; // how often the page counts between two frames, at most
const SLOW_MILLISECONDS = 120;

if (new URLSearchParams(location.search).has('fallback')) delete Atomics.waitAsync;

const element = (id) => document.getElementById(id);
const { words, lockWords, lockIndex, agents } = await startWorkers();
const lock = new AsyncLock(lockWords, lockIndex);
const drawing = new Drawing(agents);

words[INSIDE] = 20_000;
words[OUTSIDE] = 100;
words[SLOW] = SLOW_MILLISECONDS;

const mode = { locked: true, page: 'awaits' }; // or 'spins'; or 'abstains': counts for itself alone, and waits for no lock
const own = new Int32Array(words.length); // what `increment` writes when the page abstains
let counting = null; // the page's counts of this frame, if they are not done
let began = 0;
let longest = 0;
let longestWhileHeld = 0; // of the gaps in which the slow worker held the lock
let last; // when the last frame was
let holds; // HOLDS_LONG at that time

/** Counts PER_FRAME times. The page gives way to its event loop wherever it has to wait, unless it spins. */
async function count() {
  if (mode.page === 'abstains') {
    for (let i = 0; i < PER_FRAME; i++) increment(own, words[INSIDE]);
    return;
  }
  for (let i = 0; i < PER_FRAME && words[RUN]; i++) {
    Atomics.store(words, STATE + PAGE, WAITS);
    const guard = mode.locked ? (mode.page === 'spins' ? spinForLock() : await lock.lockAsync()) : null;
    Atomics.store(words, STATE + PAGE, HOLDS);
    increment(words, words[INSIDE]);
    Atomics.add(words, COUNT + PAGE, 1);
    Atomics.store(words, STATE + PAGE, WORKS);
    guard?.release();
  }
}

function spinForLock() {
  for (;;) {
    const guard = lock.tryLock();
    if (guard) return guard;
  }
}

function frame(now) {
  const gap = last === undefined ? 0 : now - last;
  last = now;
  longest = Math.max(longest, gap);
  const [before, after] = [holds, Atomics.load(words, HOLDS_LONG)];
  if (after !== before || after % 2 === 1) longestWhileHeld = Math.max(longestWhileHeld, gap);
  holds = after;
  drawing.frame(now, gap, agents.map((_, number) => Atomics.load(words, STATE + number)));
  show(now);
  if (words[RUN]) counting ??= count().finally(() => (counting = null));
  requestAnimationFrame(frame);
}

/** What has been counted, since the last start. Lost counts are exact only when all pause. */
function figures() {
  const counts = agents.map((_, number) => Atomics.load(words, COUNT + number));
  const counted = counts.reduce((sum, count) => sum + count, 0);
  const total = Atomics.load(words, COUNTER);
  return { counts, counted, total, lost: counted - total, longest, longestWhileHeld };
}

let shown = 0;
function show(now) {
  if (now - shown < 120) return;
  shown = now;
  const { counts, counted, total, lost } = figures();
  // An agent may be between its two counts while others go on: that is no loss.
  const isLost = lost > agents.length;
  element('total').textContent = total.toLocaleString('en');
  element('lost').textContent = (isLost ? lost : 0).toLocaleString('en');
  element('lost-figure').className = isLost ? 'bad' : 'good';
  element('gap').textContent = longest.toFixed(1);
  element('gap-figure').className = longest > 50 ? 'bad' : 'good';
  if (began) element('rate').textContent = Math.round((counted / Math.max(now - began, 1)) * 1000).toLocaleString('en');
  counts.forEach((count, number) => drawing.count(number, count));
}

/** All stop counting. */
async function pause() {
  Atomics.store(words, RUN, 0);
  await counting;
  while (agents.some((_, number) => number !== PAGE && Atomics.load(words, STATE + number) !== PAUSES)) await nextFrame();
  Atomics.store(words, STATE + PAGE, PAUSES);
}

/** Begins again, from zero. */
async function restart(changes = {}) {
  await pause();
  Object.assign(mode, changes);
  words[COUNTER] = 0;
  words.fill(0, COUNT, COUNT + agents.length);
  Atomics.store(words, LOCKED, mode.locked ? 1 : 0);
  Atomics.store(words, RUN, 1);
  Atomics.notify(words, RUN);
  began = performance.now();
  drawing.clear();
  startOfGaps();
  element('note').textContent = explain();
}

function startOfGaps() {
  longest = 0;
  longestWhileHeld = 0;
  last = undefined;
}

function explain() {
  if (!mode.locked) return 'Without the lock two agents load the counter, and both store the same sum: a count is lost.';
  const slow = `${agents[SLOW_WORKER].name} holds the lock for ${SLOW_MILLISECONDS} ms, once a second.`;
  return mode.page === 'spins'
    ? `${slow} The page calls tryLock in a loop, and stands still as long.`
    : `${slow} The page awaits its turn in the same queue, and goes on drawing.`;
}

const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));

const checked = (name) => document.querySelector(`input[name=${name}]:checked`).value;
let turn = Promise.resolve();
const change = () => (turn = turn.then(() => restart({ locked: checked('lock') === 'on', page: checked('page') })));
for (const input of document.querySelectorAll('input')) input.addEventListener('change', change);
element('restart').addEventListener('click', change);
if (!agents.some(({ kind }) => kind === 'Rust')) {
  element('about').textContent += ' (No WebAssembly was built, so all four are JavaScript.)';
}

requestAnimationFrame(frame);
await restart();
if (new URLSearchParams(location.search).has('test')) {
  const { drive } = await import('./test.js');
  await drive({ restart, pause, figures, agents, isFallback: typeof Atomics.waitAsync !== 'function' });
}
