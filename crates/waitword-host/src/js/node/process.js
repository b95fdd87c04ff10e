// `process`: the properties of the program, and exit. The events before its end are in lifecycle.js. Loaded at first use.
(function (host) {
  "use strict";

  const { native, options } = host;
  const { assign, BigInt, defineProperty, Error, isArray, isError, isInteger, now, Number, Proxy, RangeError, round, String, Symbol } = host.safe;
  const { nextTick } = host;
  const OUT = 1;
  const ERR = 2;

  class Output extends host.EventEmitter {
    fd;
    writable = true;

    constructor(fd) {
      super();
      this.fd = fd;
      // As in Node, missing if the output is not a terminal.
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

  // Values assigned in the environment become strings.
  const own = new Proxy(options.env, {
    __proto__: null,
    set(all, name, value) {
      host.put(all, name, host.domString(value));
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
    version = "v" + options.version;
    versions = { waitword: options.version };
    release = { name: "waitword" };
    #exitCode;
    // Own properties and not methods, so that `import { exit } from "node:process"` works.
    cwd = () => native.cwd();
    uptime = () => now() / 1000;
    exit = function exit(code) {
      // As in Node, a given argument counts, even undefined.
      if (arguments.length > 0) process.exitCode = code;
      native.exit(host.ending(true));
    };
    nextTick = (callback, ...args) => {
      if (typeof callback !== "function") throw host.invalid("callback", "of type function", callback);
      nextTick(callback, args);
    };
    emitWarning = (warning, settings = undefined) => {
      if (typeof warning !== "string" && !isError(warning)) throw host.invalid("warning", "of type string or an instance of Error", warning);
      const error = typeof warning === "string" ? new Error(warning) : warning;
      const type = typeof settings === "string" ? settings : settings?.type;
      if (typeof warning === "string") error.name = type ?? "Warning";
      nextTick(() => {
        this.emit("warning", error);
        host.write(ERR, "(waitword) " + host.errorTitle(error) + "\n");
      });
    };
    hrtime = assign(
      function hrtime(since) {
        if (since !== undefined && !isArray(since)) throw host.invalid("time", "an instance of Array", since);
        if (since !== undefined && since.length !== 2) throw host.outOfRange("time", "2", since.length);
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
  host.tag(Process.prototype, "process");

  const nanoseconds = () => BigInt(round(now() * 1e6));

  function exitCode(code) {
    if (code === undefined || code === null) return code;
    const number = typeof code === "string" && code !== "" ? Number(code) : code;
    if (typeof number !== "number" || number !== number) throw host.invalid("code", "of type number", code);
    if (isInteger(number)) return code;
    throw host.error(RangeError, "ERR_OUT_OF_RANGE",
      'The value of "code" is out of range. It must be an integer. Received ' + String(code));
  }

  const process = new Process();
  output("stdout", OUT);
  output("stderr", ERR);

  /** An output is created at first use, because most workers use `console`, or print nothing. */
  function output(name, stream) {
    const put = (value) => host.put(process, name, value);
    const get = () => {
      const made = new Output(stream);
      put(made);
      return made;
    };
    defineProperty(process, name, { __proto__: null, get, set: put, enumerable: true, configurable: true });
  }

  return { process };
});
