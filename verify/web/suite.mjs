// Runs the tests on the main agent: a page, or Node's main thread. Options: name (a part of it), scale, messages, timer, steps.
//
// A soak has so many `steps`: waits, or acquisitions. It says how far it is, and fails when nothing has moved for a minute.
const STANDSTILL = 60_000;

export async function runSuite(bindgen, wasm, options, log) {
  const canBlock = bindgen.startMain(options.messages);
  if (options.timer) bindgen.startTimer();
  log(`main ${canBlock ? 'may' : 'must not'} block; ${options.messages ? 'messages' : 'waitAsync'}; `
    + `${options.timer ? 'timer worker' : 'deadlines on main'}; scale ${options.scale}`);
  for (const name of bindgen.testNames()) {
    if (options.name && !name.includes(options.name)) continue;
    const start = performance.now();
    const end = options.steps ? watch(bindgen, options.steps, log) : () => {};
    await bindgen.runTest(name, options.scale);
    end();
    log(`  ok ${name} (${Math.round(performance.now() - start)} ms)`);
  }
  await endInShard(bindgen, options, log);
  const [times, all, longest] = bindgen.spins();
  log(`main spun ${times} times, for ${all.toFixed(0)} us in all and ${longest.toFixed(0)} us at most`);
}

function watch(bindgen, all, log) {
  let [done, movedAt, saidAt, said] = [0, performance.now(), performance.now(), 0];
  bindgen.takeSteps();
  const look = () => {
    const now = performance.now();
    const steps = bindgen.takeSteps();
    done += steps;
    if (steps > 0) movedAt = now;
    if (now - movedAt > STANDSTILL) throw new Error(`nothing has moved for ${STANDSTILL / 1000} s, after ${done} of ${all}`);
    if (now - saidAt > 5000) {
      log(bar(done, all, ((done - said) / (now - saidAt)) * 1000));
      [saidAt, said] = [now, done];
    }
  };
  const timer = setInterval(look, 1000);
  return () => {
    clearInterval(timer);
    look();
    if (done !== all) throw new Error(`${done} of ${all}`);
  };
}

function bar(done, all, perSecond) {
  const tenths = Math.min(20, Math.floor((20 * done) / all));
  return `  [${'#'.repeat(tenths)}${'.'.repeat(20 - tenths)}] ${done} of ${all}, ${Math.round(perSecond)}/s`;
}

// The last: after it the main agent has panicked. It is to do so within seconds, instead of spinning for ever; who keeps its deadlines is all
// the same for that.
async function endInShard(bindgen, options, log) {
  const name = 'terminated::in_the_lock_of_a_shard';
  if (options.timer || !name.includes(options.name)) return;
  await bindgen.terminateInShard();
  globalThis.expectPanic = true;
  const start = performance.now();
  let error;
  try { bindgen.touchShard(); } catch (thrown) { error = thrown; }
  if (!(error instanceof WebAssembly.RuntimeError)) throw new Error(`no panic, but ${error}`);
  log(`  ok ${name} (${Math.round(performance.now() - start)} ms)`);
}

export function optionsOf(query) {
  const given = new URLSearchParams(query);
  return {
    name: given.get('name') ?? '',
    scale: Number(given.get('scale') ?? 1),
    messages: given.has('messages'),
    timer: given.has('timer'),
    steps: Number(given.get('steps') ?? 0),
  };
}
