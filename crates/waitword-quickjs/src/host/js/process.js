// `process`: what a script may ask about the program it is, and how it ends it. Next: path.js.
(function (host) {
  "use strict";

  const { native, options } = host;
  const { BigInt, Number, String } = globalThis;
  const { round } = Math;
  const { apply } = host.safe;
  const now = performance.now;
  const enqueue = queueMicrotask;

  class Process extends host.EventEmitter {
    argv = options.argv;
    execPath = options.argv[0];
    env = Object.fromEntries(options.env);
    pid = options.pid;
    platform = options.platform;
    version = `v${options.version}`;
    versions = { waitword: options.version };
    exitCode = undefined;
    stdout = { write: (text) => written(1, text) };
    stderr = { write: (text) => written(2, text) };
    hrtime = Object.assign(
      (since) => {
        const start = since === undefined ? 0n : BigInt(since[0]) * 1_000_000_000n + BigInt(since[1]);
        const passed = nanoseconds() - start;
        return [Number(passed / 1_000_000_000n), Number(passed % 1_000_000_000n)];
      },
      { bigint: () => nanoseconds() },
    );

    cwd() {
      return native.cwd();
    }

    exit(code = this.exitCode) {
      this.exitCode = code;
      native.exit(host.ending());
    }

    nextTick(callback, ...args) {
      enqueue(() => apply(callback, undefined, args));
    }
  }

  const nanoseconds = () => BigInt(round(now() * 1e6));

  function written(stream, text) {
    host.write(stream, String(text));
    return true;
  }

  let ended = false;

  /** Tells the script, once, that its agent ends; what exit code it wants. */
  host.ending = () => {
    const process = host.process;
    if (!ended) {
      ended = true;
      process.emit("exit", Number(process.exitCode ?? 0));
    }
    return Number(process.exitCode ?? 0) | 0;
  };
  host.process = new Process();
});
