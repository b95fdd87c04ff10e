// The access to a private realm, which formats values (inspect.js) and parses texts (messages.js). Scripts cannot reach its built-ins, so the
// code there is ordinary JavaScript. It is created at first use, because many programs never need it.
// Also the console. Each call is one write, so lines of several agents never mix. Next: events.js.
(function (host) {
  "use strict";

  const OUT = 1;
  const ERR = 2;
  const { getPrototypeOf } = Object;
  const { toFixed } = Number.prototype;
  const { apply, Error, list, Map, RangeError } = host.safe;
  const { native } = host;
  let realm;

  host.text = () => {
    if (!realm) {
      realm = native.openTextRealm();
      realm.promiseState = native.promiseState;
      realm.stackOf = host.stackOf;
      realm.scriptsInspect = host.inspect;
      realm.options = () => ({});
    }
    return realm;
  };

  /** Calls a function in the private realm. Running out of stack or memory becomes an error of the scripts' realm. */
  function call(name, args) {
    const text = host.text();
    try {
      return apply(text[name], undefined, args);
    } catch (error) {
      if (typeof error === "object" && error !== null && getPrototypeOf(error) === text.RangeErrorPrototype) {
        throw new RangeError(error.message);
      }
      throw error;
    }
  }

  host.inspect = (value, options) => call("inspect", [value, options]);
  host.inspect.custom = Symbol.for("nodejs.util.inspect.custom");
  host.format = (...args) => call("format", args);
  host.errorTitle = (error) => call("errorTitle", [error]);
  host.framesOf = (error) => call("framesOf", [error]);

  const now = performance.now;
  const times = new Map();

  function print(stream, args) {
    // Plain text needs no formatting, and no built-in that a script could have replaced.
    const isPlain = args.length === 1 && typeof args[0] === "string" && args[0] !== "%%";
    const text = isPlain ? args[0] : apply(host.format, undefined, args);
    // Not a template, because the engine implements those with String.prototype.concat.
    host.write(stream, text + "\n");
  }

  const elapsed = (label) => host.domString(label) + ": " + apply(toFixed, now() - (times.get(label) ?? NaN), [3]) + "ms";
  /** The arguments with one more in front. */
  const after = (first, args) => {
    const all = list(first);
    for (let at = 0; at < args.length; at++) all.push(args[at]);
    return all;
  };

  host.console = {
    log: (...args) => print(OUT, args),
    info: (...args) => print(OUT, args),
    debug: (...args) => print(OUT, args),
    warn: (...args) => print(ERR, args),
    error: (...args) => print(ERR, args),
    trace: (...args) => {
      const title = args.length > 0 ? "Trace: " + apply(host.format, undefined, args) : "Trace:";
      const frames = host.framesOf(new Error());
      let text = title;
      for (let at = 0; at < frames.length; at++) text += "\n" + frames[at];
      print(ERR, [text]);
    },
    assert: (condition, ...args) => {
      if (condition) return;
      if (typeof args[0] === "string") args[0] = "Assertion failed: " + args[0];
      print(ERR, typeof args[0] === "string" ? args : after("Assertion failed", args));
    },
    dir: (value, options) => print(OUT, [host.inspect(value, options)]),
    time: (label = "default") => void times.set(host.domString(label), now()),
    timeLog: (label = "default", ...args) => print(OUT, after(elapsed(label), args)),
    timeEnd: (label = "default") => {
      print(OUT, [elapsed(label)]);
      times.delete(label);
    },
  };
  host.tag(host.console, "console");
  host.tag(performance, "Performance");
});
