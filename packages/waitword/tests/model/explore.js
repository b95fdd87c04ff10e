// A model checker for programs on Atomics: every interleaving of a few agents, at every atomic operation.
//
// An agent is a function that runs on a mock of `Atomics`, `setTimeout` and `performance`. It is paused before an atomic operation by
// an exception, and resumed by running it again from its start with the results it has seen so far (its log). A state is what the
// memory, the engine's queue and the logs hold; states that were seen before are not explored again. `preemptions` bounds how often
// an agent is interrupted that could go on; without it, all interleavings are explored. `first` is what word 0 holds at the start.
//
// The mock's queue is the standard's: FIFO over blocked and asynchronous waits; compare and enqueue are one step. Timers of the stall
// timeout do not fire: they would hide a lost wakeup.
//
// The agents in `mortal` may be terminated while they block, and when they were woken but have not gone on; their entry stays in the
// queue and takes a notify. The others recheck then, each RECHECKS times, but only where nobody can do anything else.
const TICKS = 24; // microtasks between two events; more than the longest chain of promises
const STALL = 20; // timers from here on are rechecks
const RECHECKS = 2;

/** What pauses an agent. No `Error`: there are a million of them, and each would have a stack. */
export class Paused {}

/** Explores all interleavings of `agents`, functions of `env` (see `replay`). Returns how many states there were; throws on a violation. */
export async function explore(agents, { preemptions = Infinity, first = 0, limit = 500_000, mortal = [] } = {}) {
  // Where an agent is paused follows from its log, so each log is replayed once, and stands for the agent in the key of a state.
  const runs = agents.map(() => new Map());
  const run = (i, log) => {
    const key = JSON.stringify(log);
    if (!runs[i].has(key)) runs[i].set(key, { id: runs[i].size });
    return runs[i].get(key);
  };
  const start = { memory: [first, ...new Array(15).fill(0)], queue: [], agents: [] };
  for (const program of agents) {
    start.agents.push({ log: [], inbox: [], blocked: false, gaveUp: false, dead: false, rechecked: 0, id: run(start.agents.length, []).id, ...(await replay(program, [])) });
  }
  const seen = new Map(); // how many preemptions were left
  const stack = [{ state: start, path: null, left: preemptions, last: -1 }];
  while (stack.length > 0) {
    const { state, path, left, last } = stack.pop();
    let choices = enabled(state, mortal);
    if (mortal.length > 0 && !choices.some(({ what }) => what !== 'dies')) choices = choices.concat(rechecks(state));
    if (choices.length === 0) {
      const stuck = state.agents.findIndex((agent) => !agent.finished);
      if (stuck >= 0) throw new Error(`agent ${stuck} waits for ever\n${trace(path)}`);
    }
    const interrupts = state.agents[last]?.next !== undefined && !state.agents[last].blocked;
    for (const choice of choices) {
      const rest = interrupts && choice.agent !== last ? left - 1 : left;
      if (rest < 0) continue;
      const next = copy(state);
      const moved = take(next, choice);
      for (const i of moved) next.agents[i].id = run(i, next.agents[i].log).id;
      const key = JSON.stringify([next.memory, next.queue, next.agents.map(({ id, inbox, gaveUp, dead }) => [id, inbox, gaveUp, dead])]) + (left < Infinity ? choice.agent : '');
      if (seen.get(key) >= rest) continue;
      seen.set(key, rest);
      if (seen.size > limit) throw new Error(`more than ${limit} states`);
      for (const i of moved) {
        const { log } = next.agents[i];
        const known = run(i, log);
        known.pause ??= await replay(agents[i], log);
        Object.assign(next.agents[i], known.pause);
      }
      const step = { before: path, choice, memory: next.memory };
      const failed = next.agents.find((agent) => agent.error);
      if (failed) throw new Error(`${failed.error.message}\n${trace(step)}`);
      stack.push({ state: next, path: step, left: rest, last: choice.agent });
    }
  }
  return seen.size;
}

function enabled(state, mortal) {
  const choices = [];
  state.agents.forEach((agent, i) => {
    if (agent.dead) return;
    if (mortal.includes(i) && (agent.blocked || agent.log.at(-1)?.result === 'ok')) choices.push({ agent: i, what: 'dies' });
    if (agent.blocked) {
      if (agent.next.args[3] < STALL && !agent.gaveUp) choices.push({ agent: i, what: 'timeout' });
    } else if (agent.next) {
      choices.push({ agent: i, what: agent.next.name });
    } else if (!agent.finished || agent.listens) {
      if (agent.inbox.length > 0) choices.push({ agent: i, what: 'wakeup' });
      if (agent.givesUp && !agent.gaveUp) choices.push({ agent: i, what: agent.givesUp });
    }
  });
  return choices;
}

function rechecks(state) {
  const can = (agent) => !agent.dead && agent.rechecked < RECHECKS && (agent.blocked ? isRecheck(agent.next.args[3]) : !agent.finished && agent.hasRecheck);
  return state.agents.flatMap((agent, i) => (can(agent) ? [{ agent: i, what: 'recheck' }] : []));
}

const isRecheck = (milliseconds) => milliseconds >= STALL && milliseconds < Infinity;

/** Does one step, and returns which agents go on by it. */
function take(state, { agent: i, what }) {
  const agent = state.agents[i];
  const { memory, queue } = state;
  if (what === 'wakeup') {
    agent.log.push({ event: 'wakeup', entry: agent.inbox.shift() });
    return [i];
  }
  if (what === 'abort' || what === 'deadline') {
    agent.gaveUp = true;
    agent.log.push({ event: what });
    return [i];
  }
  if (what === 'dies') {
    Object.assign(agent, { dead: true, blocked: false, finished: true, next: undefined });
    return [];
  }
  if (what === 'recheck') agent.rechecked++;
  if (what === 'recheck' && !agent.blocked) {
    agent.log.push({ event: what });
    return [i];
  }
  if (what === 'timeout' || what === 'recheck') {
    agent.gaveUp ||= what === 'timeout';
    agent.blocked = false;
    state.queue = queue.filter((entry) => entry.agent !== i || entry.id !== undefined);
    agent.log.push({ result: 'timed-out' });
    return [i];
  }
  const [, index, a, b] = agent.next.args;
  const old = memory[index];
  const done = (result) => (agent.log.push({ result }), [i]);
  switch (what) {
    case 'load':
      return done(old);
    case 'add':
      memory[index] = (old + a) | 0;
      return done(old);
    case 'sub':
      memory[index] = (old - a) | 0;
      return done(old);
    case 'exchange':
      memory[index] = a;
      return done(old);
    case 'compareExchange':
      if (old === a) memory[index] = b;
      return done(old);
    case 'wait':
      if (old !== a) return done('not-equal');
      agent.blocked = true;
      queue.push({ agent: i, index });
      return [];
    case 'waitAsync': {
      if (old !== a) return done(null);
      const id = agent.log.filter(({ result }) => result?.entry !== undefined).length;
      queue.push({ agent: i, index, id });
      return done({ entry: id });
    }
    case 'notify': {
      const moved = new Set([i]);
      let woken = 0;
      state.queue = queue.filter((entry) => {
        if (entry.index !== index || woken === (a ?? Infinity)) return true;
        woken++;
        const waiter = state.agents[entry.agent];
        if (waiter.dead) return false;
        if (entry.id === undefined) {
          waiter.blocked = false;
          waiter.log.push({ result: 'ok' });
          moved.add(entry.agent);
        } else {
          waiter.inbox.push(entry.id);
        }
        return false;
      });
      agent.log.push({ result: woken });
      return [...moved];
    }
    default:
      throw new Error(`the model has no Atomics.${what}`);
  }
}

function copy({ memory, queue, agents }) {
  return {
    memory: [...memory],
    queue: [...queue],
    agents: agents.map((agent) => ({ ...agent, log: [...agent.log], inbox: [...agent.inbox] })),
  };
}

function trace(path) {
  const lines = [];
  for (let step = path; step; step = step.before) {
    lines.push(`  agent ${step.choice.agent}: ${step.choice.what}  [${step.memory.join(' ')}]`);
  }
  return lines.reverse().join('\n');
}

/** Runs a program from its start as far as the log goes. Returns the operation it is paused before, or that it waits, or its end. */
async function replay(program, log) {
  const real = { Atomics: globalThis.Atomics, setTimeout, clearTimeout, performance };
  const state = { next: undefined, finished: false, error: undefined, givesUp: undefined, listens: false, hasRecheck: false };
  let at = 0;
  let now = 0;
  let ended = false; // nothing more may happen in this run: it is paused
  const entries = [];
  const timers = new Map();
  const rechecks = new Map();
  const operation = (name) => (...args) => {
    if (args[0] !== words) return real.Atomics[name](...args);
    if (ended) throw new Paused();
    if (at === log.length) {
      ended = true;
      state.next = { name, args: [null, ...args.slice(1)] };
      throw new Paused();
    }
    const { result } = log[at++];
    if (result === 'timed-out') now = STALL;
    if (name !== 'waitAsync') return result;
    if (result === null) return { async: false, value: 'not-equal' };
    return { async: true, value: new Promise((resolve) => (entries[result.entry] = resolve)) };
  };
  const words = new Int32Array(new SharedArrayBuffer(64));
  const mock = {};
  for (const name of ['load', 'add', 'sub', 'exchange', 'compareExchange', 'wait', 'waitAsync', 'notify']) mock[name] = operation(name);
  let abort;
  const env = {
    words,
    /** A signal that may abort at any time while the agent waits, once. */
    signal() {
      const controller = new AbortController();
      abort = () => controller.abort();
      return controller.signal;
    },
  };
  globalThis.Atomics = mock;
  globalThis.performance = { now: () => now };
  globalThis.setTimeout = (callback, delay) => {
    const timer = {};
    if (delay < STALL) timers.set(timer, callback);
    else if (isRecheck(delay)) rechecks.set(timer, callback);
    return timer;
  };
  globalThis.clearTimeout = (timer) => timers.delete(timer) || rechecks.delete(timer);
  try {
    const run = (async () => program(env))();
    run.then(() => (state.finished = !ended), (error) => error instanceof Paused || ended || (state.error = error));
    await drain();
    while (!ended && at < log.length) {
      const { event, entry } = log[at++];
      if (event === 'wakeup') entries[entry]('ok');
      else if (event === 'abort') abort();
      else if (event === 'recheck') {
        const callbacks = [...rechecks.values()];
        rechecks.clear();
        for (const callback of callbacks) callback();
      } else if (event === 'deadline') {
        now = STALL;
        for (const callback of [...timers.values()]) callback();
      }
      await drain();
    }
    // An agent whose program has ended still turns its event loop: stale entries are forwarded.
    state.listens = true;
    state.hasRecheck = !ended && rechecks.size > 0;
    if (!ended && !state.finished) state.givesUp = abort ? 'abort' : timers.size > 0 ? 'deadline' : undefined;
  } catch (error) {
    if (!(error instanceof Paused)) state.error = error;
  } finally {
    Object.assign(globalThis, real);
  }
  return state;
}

async function drain() {
  for (let tick = 0; tick < TICKS; tick++) await null;
}
