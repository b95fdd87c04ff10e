// Every interleaving of a few agents (model/programs.js), and that the model finds each step that is left out on purpose.
//
//   node tests/node/model.test.js            the models
//   node tests/node/model.test.js mutants    the mutants as well
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as library from '../../src/index.js';
import { assert, failure, run, test, turn } from '../harness.js';
import { Paused, explore } from '../model/explore.js';
import { programs } from '../model/programs.js';

// An agent that is paused in a promise's reaction leaves a rejection that nobody handles, and one that is paused in a listener an
// error. They are kept until the event loop turns.
for (const event of ['unhandledRejection', 'uncaughtException']) {
  process.on(event, (error) => {
    if (!(error instanceof Paused)) throw error;
  });
}

async function check({ agents, ...options }) {
  await turn();
  return explore(agents, options);
}

for (const [name, program] of Object.entries(programs(library))) {
  test(name, async () => void (await check(program)));
}

/** What is left out: in which file, which text, what stands there instead, and which program fails by it. */
const MUTANTS = [
  ['waits.js', "this.#forward(expected, head !== undefined);", ';', 'lock: two block, one aborts'],
  ['async_lock.js', 'exchange(CONTENDED) === FREE', 'exchange(CONTENDED) === FREE && this.#word.compareExchange(CONTENDED, LOCKED) === CONTENDED', 'lock: three block'],
  ['async_lock.js', 'this.#word.compareExchange(LOCKED, CONTENDED)', 'this.#word.load()', 'lock: one blocks twice, one aborts'],
  ['async_lock.js', 'if (before === FREE) this.#word.notify(', 'if (false) this.#word.notify(', 'lock: two block, one aborts'],
  ['semaphore.js', 'if (mark && before - PERMIT >= PERMIT)', 'if (false)', 'semaphore: two are released for two'],
  ['semaphore.js', '(value - PERMIT) | mark', 'value - PERMIT', 'semaphore: one permit for three'],
  ['semaphore.js', 'if (this.#word.compareExchange(0, WAITERS) >= PERMIT)', 'if (this.#word.load() >= PERMIT)', 'semaphore: one acquires twice, one aborts'],
  ['event.js', 'if (waiters(before) > 0) this.#word.notify(1);', '', 'event: one notify, one waiter'],
  ['event.js', 'if (this.#word.load() & WAKEUPS) this.#word.notify(1);', '', 'event: one aborts'],
  ['event.js', 'wakeups(value) <= waiters(value)', 'wakeups(value) === 0', 'event: two that wait and two notifies'],
  ['event.js', 'this.#word.compareExchange(value, value - WAKEUP - WAITER) !== value', 'void this.#word.compareExchange(value, value - WAKEUP - WAITER)', 'event: one wakeup goes round'],
  ['event.js', 'left - WAKEUP : left', 'left - WAKEUP * wakeups(left) : left', 'event: two notifies, one aborts'],
  ['event.js', '(value & LAPS) !== lap || this.#rounds.load() !== round', 'false', 'event: all that began before'],
  ['event.js', '((value & LAPS) + LAP)', '(value & LAPS)', 'event: a waiter that was woken in vain, and all'],
  ['event.js', 'this.#word.notify();', '', 'event: all that began before'],
  ['condition.js', 'if (this.#word.load() !== expected)', 'if (false)', 'condition: one aborts'],
  ['condition.js', 'lock.unlock();', 'lock.unlock();\n      seen = this.#word.change((value) => value | WAITERS) | WAITERS;', 'condition: one at a time', ['const seen', 'let seen']],
  ['condition.js', 'interval: LONGEST_STALL_TIMEOUT', 'interval: Infinity', 'condition: a waiter dies, another awaits'],
  ['condition.js', 'interval: LONGEST_STALL_TIMEOUT', 'interval: Infinity', 'condition: a waiter dies, another blocks'],
  ['condition.js', 'if (before !== undefined) this.#word.notify();', '', 'condition: all'],
];

if (process.argv.includes('mutants')) {
  for (const [file, text, instead, name, also] of MUTANTS) {
    test(`${file} with \`${instead}\` fails in ${name}`, async () => {
      const folder = mkdtempSync(path.join(tmpdir(), 'waitword-mutant-'));
      try {
        cpSync(fileURLToPath(new URL('../../src', import.meta.url)), folder, { recursive: true });
        writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
        let source = readFileSync(path.join(folder, file), 'utf8');
        for (const [from, to] of [...(also ? [also] : []), [text, instead]]) {
          assert(source.includes(from), `${file} has no \`${from}\``);
          source = source.replace(from, () => to);
        }
        writeFileSync(path.join(folder, file), source);
        const mutant = await import(pathToFileURL(path.join(folder, 'index.js')));
        const error = await failure(() => check(programs(mutant)[name]));
        assert(/waits for ever|one too many/.test(error.message), error.message);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  }
}

await run();
