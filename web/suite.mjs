// Runs the tests on the main agent: a page, or Node's main thread. Options: name (a part of it), scale, messages, timer.

export async function runSuite(bindgen, wasm, options, log) {
  const canBlock = bindgen.startMain(options.messages);
  if (options.timer) bindgen.startTimer();
  log(`main ${canBlock ? 'may' : 'must not'} block; ${options.messages ? 'messages' : 'waitAsync'}; `
    + `${options.timer ? 'timer worker' : 'deadlines on main'}; scale ${options.scale}`);
  for (const name of bindgen.testNames()) {
    if (options.name && !name.includes(options.name)) continue;
    const start = performance.now();
    await bindgen.runTest(name, options.scale);
    log(`  ok ${name} (${Math.round(performance.now() - start)} ms)`);
  }
  await endInShard(bindgen, options, log);
  const [times, all, longest] = bindgen.spins();
  log(`main spun ${times} times, for ${all.toFixed(0)} us in all and ${longest.toFixed(0)} us at most`);
}

// The last: after it the main agent has panicked. It is to do so within seconds, instead of spinning for ever.
async function endInShard(bindgen, options, log) {
  const name = 'terminated::in_the_lock_of_a_shard';
  if (!name.includes(options.name)) return;
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
  };
}
