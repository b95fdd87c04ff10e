// The parts of node:os, node:module and node:util that programs with workers use, and `navigator`, which tells pages how many workers are
// useful. Loaded at first use.
(function (host) {
  "use strict";

  const { Object, Promise, Symbol } = globalThis;
  const { apply, list, startsWith, String, TypeError } = host.safe;
  const { native } = host;
  const text = host.text();
  const custom = Symbol.for("nodejs.util.promisify.custom");

  const processor = { model: "unknown", speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } };
  const os = {
    availableParallelism: () => native.parallelism(),
    cpus: () => {
      const all = [];
      for (let at = native.parallelism(); at > 0; at--) host.append(all, { ...processor, times: { ...processor.times } });
      return all;
    },
  };

  function createRequire(file) {
    const name = file instanceof host.part("url").URL || apply(startsWith, String(file), ["file:"])
      ? host.part("url").fileURLToPath(file)
      : file;
    if (typeof name !== "string" || !host.path.isAbsolute(name)) {
      throw host.error(TypeError, "ERR_INVALID_ARG_VALUE",
        "The argument 'filename' must be a file URL object, file URL string, or absolute path string. Received " + host.inspect(file));
    }
    return host.requireFrom(name);
  }

  class Navigator {
    get hardwareConcurrency() {
      return native.parallelism();
    }
  }
  host.shape(Navigator);

  function promisify(original) {
    if (typeof original !== "function") throw host.invalid("original", "of type function", original);
    if (typeof original[custom] === "function") return original[custom];
    if (original === host.timers.setTimeout) return host.part("promises").timers.setTimeout;
    if (original === host.timers.setImmediate) return host.part("promises").timers.setImmediate;
    const promised = function (...args) {
      return new Promise((resolve, reject) => {
        const all = list();
        for (let at = 0; at < args.length; at++) all.push(args[at]);
        all.push((error, value) => (error ? reject(error) : resolve(value)));
        apply(original, this, all);
      });
    };
    return Object.setPrototypeOf(promised, Object.getPrototypeOf(original));
  }
  promisify.custom = custom;

  function inherits(Class, Base) {
    if (typeof Class !== "function") throw host.invalid("ctor", "of type function", Class);
    if (typeof Base !== "function") throw host.invalid("superCtor", "of type function", Base);
    if (typeof Base.prototype !== "object") throw host.invalid("superCtor.prototype", "of type object", Base.prototype);
    Object.defineProperty(Class, "super_", { value: Base, writable: true, configurable: true });
    Object.setPrototypeOf(Class.prototype, Base.prototype);
  }

  const util = {
    format: host.format, inherits, inspect: host.inspect,
    isDeepStrictEqual: (a, b) => text.isDeepEqual(a, b, true),
    promisify, types: Object.assign({}, text.types),
    TextDecoder: host.part("encoding").TextDecoder, TextEncoder: host.part("encoding").TextEncoder,
  };
  return { module: { builtinModules: host.builtinNames, createRequire }, navigator: new Navigator(), os, util };
});
