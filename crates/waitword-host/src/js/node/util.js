// The part of node:util that programs with workers use. A part that runs when it is first asked for.
(function (host) {
  "use strict";

  const { Object, Promise, Symbol } = globalThis;
  const { apply, list } = host.safe;
  const text = host.text();
  const custom = Symbol.for("nodejs.util.promisify.custom");
  const encoding = host.part("encoding");

  function promisify(original) {
    if (typeof original !== "function") throw host.invalid("original", "of type function", original);
    if (typeof original[custom] === "function") return original[custom];
    if (original === host.timers.setTimeout) return host.part("timers_promises").setTimeout;
    if (original === host.timers.setImmediate) return host.part("timers_promises").setImmediate;
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
    Object.defineProperty(Class, "super_", { value: Base, writable: true, configurable: true });
    Object.setPrototypeOf(Class.prototype, Base.prototype);
  }

  return {
    format: host.format, inherits, inspect: host.inspect,
    isDeepStrictEqual: (a, b) => text.isDeepEqual(a, b, true),
    promisify, TextDecoder: encoding.TextDecoder, TextEncoder: encoding.TextEncoder,
    types: Object.assign({}, text.types),
  };
});
