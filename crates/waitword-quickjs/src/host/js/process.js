// `process`: what a script may ask about the program it is, how it ends it, and what it hears before it ends. Next: path.js.
(function (host) {
  "use strict";

  const { native, options } = host;
  const { BigInt, Error, Number, Proxy, RangeError, String, Symbol } = globalThis;
  const { round } = Math;
  const { fromEntries, keys } = Object;
  const { isInteger } = Number;
  const { apply, defineProperty, list } = host.safe;
  const { of: listenersOf } = host.listeners;
  const now = performance.now;
  const OUT = 1;
  const ERR = 2;

  class Output extends host.EventEmitter {
    fd;
    writable = true;

    constructor(fd) {
      super();
      this.fd = fd;
      // As in Node, where it is missing for what is no terminal.
      if (native.isTerminal(fd)) this.isTTY = true;
    }

    write(chunk, encoding, callback) {
      const then = typeof encoding === "function" ? encoding : callback;
      host.write(this.fd, typeof chunk === "string" ? chunk : host.part("encoding").chunk(chunk));
      if (typeof then === "function") nextTick(then);
      return true;
    }

    end(chunk, encoding, callback) {
      if (chunk !== undefined && typeof chunk !== "function") this.write(chunk, encoding, callback);
      return this;
    }
  }

  const variables = fromEntries(options.env);
  // Whatever is put into the environment becomes text.
  const own = new Proxy(variables, {
    __proto__: null,
    set(all, name, value) {
      host.put(all, name, String(value));
      return true;
    },
  });

  class Process extends host.EventEmitter {
    title = "waitword";
    argv = options.argv;
    argv0 = options.argv[0];
    execArgv = [];
    execPath = options.argv[0];
    env = own;
    pid = options.pid;
    arch = options.arch;
    platform = options.platform;
    version = `v${options.version}`;
    versions = { waitword: options.version };
    release = { name: "waitword" };
    #exitCode;
    // Its own and not methods, so that `import { exit } from "node:process"` finds them.
    cwd = () => native.cwd();
    uptime = () => now() / 1000;
    exit = (code) => {
      if (code !== undefined) this.exitCode = code;
      native.exit(host.ending());
    };
    nextTick = (callback, ...args) => {
      if (typeof callback !== "function") throw host.invalid("callback", "of type function", callback);
      nextTick(callback, args);
    };
    emitWarning = (warning, settings) => {
      const error = typeof warning === "string" ? new Error(warning) : warning;
      const type = typeof settings === "string" ? settings : settings?.type;
      if (typeof warning === "string") error.name = type ?? "Warning";
      nextTick(() => {
        this.emit("warning", error);
        host.write(ERR, "(waitword) " + host.errorTitle(error) + "\n");
      });
    };
    hrtime = Object.assign(
      (since) => {
        const start = since === undefined ? 0n : BigInt(since[0]) * 1_000_000_000n + BigInt(since[1]);
        const passed = nanoseconds() - start;
        return [Number(passed / 1_000_000_000n), Number(passed % 1_000_000_000n)];
      },
      { bigint: () => nanoseconds() },
    );

    get exitCode() {
      return this.#exitCode;
    }

    set exitCode(code) {
      this.#exitCode = exitCode(code);
    }
  }
  defineProperty(Process.prototype, Symbol.toStringTag, { __proto__: null, value: "process", configurable: true });


  /** The environment that a worker begins with, names and values in turn, as texts: `env`, or this agent's own. */
  host.variables = (env) => {
    const known = env ?? host.process.env;
    const names = keys(known === own ? variables : known);
    const texts = list();
    for (let at = 0; at < names.length; at++) {
      texts.push(names[at]);
      texts.push(String(known[names[at]]));
    }
    return texts;
  };

  const nanoseconds = () => BigInt(round(now() * 1e6));

  function exitCode(code) {
    if (code === undefined || code === null) return code;
    const number = typeof code === "string" && code !== "" ? Number(code) : code;
    if (typeof number !== "number" || number !== number) throw host.invalid("code", "of type number", code);
    if (isInteger(number)) return code;
    throw host.error(RangeError, "ERR_OUT_OF_RANGE",
      'The value of "code" is out of range. It must be an integer. Received ' + String(code));
  }

  // What is to run after the script that runs now, and before its microtasks.
  let ticks = list();

  function nextTick(callback, args = list()) {
    if (ticks.length === 0) native.wantTicks();
    ticks.push({ callback, args });
  }

  host.nextTick = nextTick;
  host.runTicks = () => {
    let at = 0;
    try {
      while (at < ticks.length) {
        const { callback, args } = ticks[at++];
        apply(callback, undefined, args);
      }
    } finally {
      const rest = list();
      for (; at < ticks.length; at++) rest.push(ticks[at]);
      ticks = rest;
      if (rest.length > 0) native.wantTicks();
    }
  };

  /** What was thrown, or what an unhandled promise was rejected with: whether the script takes care of it. */
  host.uncaught = (reason, origin) => {
    const { process } = host;
    process.emit("uncaughtExceptionMonitor", reason, origin);
    return process.emit("uncaughtException", reason, origin) || host.tellScope("error", () => errorEvent(reason));
  };
  /** What a page, or its worker, hears of an error. */
  function errorEvent(error) {
    const parts = host.text().placeOf(error);
    const message = "Uncaught " + parts[0];
    const settings = { message, filename: parts[1], lineno: parts[2], colno: parts[3], error, cancelable: true };
    return new host.ErrorEvent("error", settings);
  }
  /** Tells those who listen as on a page; whether they deal with it. Replaced where there is a page (web_worker.js). */
  host.tellScope = () => false;

  host.rejected = (promise, reason) => {
    if (host.process.emit("unhandledRejection", reason, promise)) return true;
    const event = () => new host.PromiseRejectionEvent("unhandledrejection", { promise, reason, cancelable: true });
    if (host.tellScope("unhandledrejection", event)) return true;
    const isHeard = listenersOf(host.process, "uncaughtException") ?? listenersOf(host.process, "uncaughtExceptionMonitor");
    return isHeard ? host.uncaught(host.rejection(reason), "unhandledRejection") : false;
  };
  /** An error that says what a promise was rejected with. */
  host.rejection = (reason) => {
    if (Error.isError(reason)) return reason;
    const error = host.error(Error, "ERR_UNHANDLED_REJECTION",
      "This error originated either by throwing inside of an async function without a catch block, or by rejecting a " +
      'promise which was not handled with .catch(). The promise rejected with the reason "' + host.inspect(reason) + '".');
    return host.put(error, "name", "UnhandledPromiseRejection");
  };

  let ended = false;

  /** Tells the script that its agent has nothing left to do; whether anybody heard, who may have found something. */
  host.idle = () => host.process.emit("beforeExit", Number(host.process.exitCode ?? 0));
  /** Tells the script, once, that its agent ends; what exit code it wants. */
  host.ending = () => {
    const { process } = host;
    if (!ended) {
      ended = true;
      process.exitCode ??= 0;
      process.emit("exit", Number(process.exitCode));
    }
    return Number(process.exitCode ?? 0) | 0;
  };
  /** The same for an agent that fails. */
  host.failing = () => {
    host.process.exitCode = 1;
    host.ending();
  };
  host.process = new Process();
  output("stdout", OUT);
  output("stderr", ERR);

  /** An output is made when it is first asked for: most workers write by `console`, or not at all. */
  function output(name, stream) {
    const put = (value) => host.put(host.process, name, value);
    const get = () => {
      const made = new Output(stream);
      put(made);
      return made;
    };
    defineProperty(host.process, name, { __proto__: null, get, set: put, enumerable: true, configurable: true });
  }
});
