// `process`: what a script may ask about the program it is, and how it ends it. Next: path.js.
(function (host) {
  "use strict";

  const { native, options } = host;
  const { Number, String } = globalThis;
  const { apply } = host.safe;
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
      ([seconds, nanoseconds] = [0, 0]) => {
        const now = this.hrtime.bigint() - (BigInt(seconds) * 1_000_000_000n + BigInt(nanoseconds));
        return [Number(now / 1_000_000_000n), Number(now % 1_000_000_000n)];
      },
      { bigint: () => BigInt(Math.round(performance.now() * 1e6)) },
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
