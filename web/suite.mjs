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
  const [times, all, longest] = bindgen.spins();
  log(`main spun ${times} times, for ${all.toFixed(0)} us in all and ${longest.toFixed(0)} us at most`);
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
