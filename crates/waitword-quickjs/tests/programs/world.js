// What the scripts of a program are written with, in every agent. It writes down what can be observed: each coercion, each
// result and error, and each promise that is settled. Patches of built-ins do not reach it: it uses what it takes here.
(function (realms, gc) {
  "use strict";

  const { apply, construct, getPrototypeOf, ownKeys } = Reflect;
  const { defineProperty, setPrototypeOf, create } = Object;
  const getter = (object, key) => Object.getOwnPropertyDescriptor(object, key).get;
  const { transfer, resize } = ArrayBuffer.prototype;
  const NewProxy = Proxy;
  const NewBytes = Uint8Array;
  const bytesLength = getter(getPrototypeOf(Uint8Array).prototype, "length");
  const float = new Float64Array(1);
  const bits = new BigUint64Array(float.buffer);
  const { toPrimitive, iterator } = Symbol;

  const list = (...items) => setPrototypeOf(items, null);
  const taken = setPrototypeOf(realms.map((g) => setPrototypeOf({
    global: g,
    atomics: setPrototypeOf({ ...Object.fromEntries(
      ownKeys(g.Atomics).filter((key) => typeof g.Atomics[key] === "function").map((key) => [key, g.Atomics[key]]),
    ) }, null),
    SharedArrayBuffer: g.SharedArrayBuffer,
    methods: setPrototypeOf({
      grow: g.SharedArrayBuffer.prototype.grow,
      slice: g.SharedArrayBuffer.prototype.slice,
      byteLength: getter(g.SharedArrayBuffer.prototype, "byteLength"),
    }, null),
    maxByteLength: getter(g.SharedArrayBuffer.prototype, "maxByteLength"),
    growable: getter(g.SharedArrayBuffer.prototype, "growable"),
    sharedPrototype: g.SharedArrayBuffer.prototype,
    objectPrototype: g.Object.prototype,
    promisePrototype: g.Promise.prototype,
    then: g.Promise.prototype.then,
    errors: list(g.TypeError.prototype, g.RangeError.prototype, g.SyntaxError.prototype),
  }, null)), null);
  const errorNames = list("TypeError", "RangeError", "SyntaxError");

  let log = "";
  const note = (text) => { log += text + " "; };
  let objects = 0;
  let waits = 0;

  const number = (value) => {
    if (value === (value | 0) && (value !== 0 || 1 / value > 0)) return `${value}`;
    float[0] = value;
    return `bits${bits[0]}`;
  };

  /** A result of `realm`. */
  const show = (realm, value) => {
    switch (typeof value) {
      case "undefined": return "undefined";
      case "number": return number(value);
      case "bigint": return `${value}n`;
      case "string": return value;
    }
    for (let at = 0; at < taken.length; at++) {
      if (getPrototypeOf(value) === taken[at].sharedPrototype) return memory(at, value);
    }
    const keys = ownKeys(value);
    if (keys.length !== 2 || keys[0] !== "async" || keys[1] !== "value") return "strange keys";
    if (getPrototypeOf(value) !== realm.objectPrototype) return "strange prototype";
    if (value.async === false) return `now:${value.value}`;
    if (value.async !== true || getPrototypeOf(value.value) !== realm.promisePrototype) return "strange promise";
    const wait = ++waits;
    const settled = (outcome) => { note(`${wait}:${outcome}`); };
    apply(realm.then, value.value, [settled, () => note(`${wait}:rejected`)]);
    return `later:${wait}`;
  };

  /** A new buffer of the realm with this number. */
  const memory = (at, buffer) => {
    const realm = taken[at];
    const length = apply(realm.methods.byteLength, buffer, []);
    const max = apply(realm.maxByteLength, buffer, []);
    return `memory@${at}:${length}/${max}/${apply(realm.growable, buffer, [])}:${dump(buffer)}`;
  };

  const dump = (buffer) => {
    const bytes = new NewBytes(buffer);
    const length = apply(bytesLength, bytes, []);
    let text = "";
    for (let at = 0; at < length; at++) text += `${bytes[at]},`;
    return text;
  };

  const thrown = (error) => {
    if (typeof error === "string") return error;
    const prototype = getPrototypeOf(error);
    for (let realm = 0; realm < taken.length; realm++) {
      const at = taken[realm].errors;
      for (let kind = 0; kind < at.length; kind++) if (prototype === at[kind]) return `${errorNames[kind]}@${realm}`;
    }
    return "strange error";
  };

  const run = (realm, work) => {
    let text;
    try {
      text = show(taken[realm], work(taken[realm]));
    } catch (error) {
      text = thrown(error);
    }
    note(text);
  };

  /** What a patch puts in the place of a built-in: code of the host that calls it gives itself away. */
  const boom = () => { note("patched"); };
  const put = (object, key, value) =>
    defineProperty(object, key, { __proto__: null, value, writable: true, configurable: true });
  const trap = (object, key) =>
    defineProperty(object, key, { __proto__: null, get: boom, set: boom, configurable: true });
  const each = (object, use) => {
    const keys = ownKeys(object);
    for (let at = 0; at < keys.length; at++) if (keys[at] !== "constructor") use(object, keys[at]);
  };
  const patches = list(
    (g) => { put(g, "Promise", boom); },
    (g, r) => { put(r.promisePrototype, "then", boom); },
    (g, r) => { trap(r.objectPrototype, "async"); trap(r.objectPrototype, "value"); trap(r.objectPrototype, "then"); },
    (g, r) => { each(r.typedPrototype, trap); },
    (g, r) => { for (let at = 0; at < 4; at++) trap(r.arrayPrototype, `${at}`); put(r.arrayPrototype, iterator, boom); },
    (g, r) => { each(r.sharedPrototype, trap); each(r.arrayBufferPrototype, trap); },
    (g, r) => { put(g, "WeakRef", boom); put(r.weakRefPrototype, "deref", boom); },
    (g, r) => { each(r.atomicsObject, (object, key) => put(object, key, boom)); put(g, "Atomics", boom); },
    (g, r) => {
      for (let at = 0; at < r.primitives.length; at++) {
        put(r.primitives[at], "valueOf", boom);
        put(r.primitives[at], "toString", boom);
      }
      put(r.errors[0], "constructor", boom);
      put(g, "TypeError", boom);
      put(g, "RangeError", boom);
      put(g, "BigInt", boom);
    },
  );
  for (let at = 0; at < taken.length; at++) {
    const r = taken[at];
    r.typedPrototype = r.global.Object.getPrototypeOf(r.global.Int32Array).prototype;
    r.arrayPrototype = r.global.Array.prototype;
    r.arrayBufferPrototype = r.global.ArrayBuffer.prototype;
    r.weakRefPrototype = r.global.WeakRef.prototype;
    r.atomicsObject = r.global.Atomics;
    r.primitives = list(r.global.Number.prototype, r.global.BigInt.prototype, r.global.Boolean.prototype,
      r.global.String.prototype, r.global.Symbol.prototype);
  }

  /** An object of which each method has the same number. */
  const numbered = (make) => {
    const id = ++objects;
    return setPrototypeOf(make((what) => note(`${what}${id}`), id), null);
  };

  const $ = setPrototypeOf({
    buffers: list(),
    views: list(),
    strange: list(),
    symbol: Symbol("s"),
    prepare() {
      $.strange = list(create($.views[0]), new NewProxy($.views[0], {}), new DataView($.buffers[0]), [0, 0, 0, 0], () => 0);
    },
    take() {
      const text = log;
      log = "";
      return text;
    },
    dump() {
      for (let at = 0; at < $.buffers.length; at++) {
        let text = "detached";
        try {
          text = dump($.buffers[at]);
        } catch {}
        note(text);
      }
      return $.take();
    },
    atomics: (realm, name, values) => run(realm, (r) => apply(r.atomics[name], undefined, values)),
    on: (realm, name, target, values) => run(realm, (r) => apply(r.methods[name], target, values)),
    construct: (realm, values) => run(realm, (r) => construct(r.SharedArrayBuffer, values)),
    detach: (buffer) => run(0, () => { apply(transfer, buffer, []); }),
    resize: (buffer, length) => run(0, () => { apply(resize, buffer, [length]); }),
    patch(realm, patch) { patches[patch](taken[realm].global, taken[realm]); },
    strip(view) { setPrototypeOf(view, null); },
    gc,

    options: (max) => numbered((note) => ({ get maxByteLength() { note("m"); return max(); } })),
    valueOf: (act) => numbered((note) => ({ valueOf() { note("v"); return act(); } })),
    toString: (act) => numbered((note) => ({ valueOf() { note("v"); return {}; }, toString() { note("s"); return act(); } })),
    toPrimitive: (act) => numbered((note) => ({ [toPrimitive](hint) { note(`${hint}`); return act(); } })),
    getter: (act) => numbered((note) => ({ get valueOf() { note("g"); const result = act(); return () => result; } })),
    proxy: (act) => numbered((note) => new NewProxy({}, {
      __proto__: null,
      get(_, key) {
        note(key === toPrimitive ? "p" : key);
        return key === "valueOf" ? act : undefined;
      },
    })),
    throws: (act) => numbered((note, id) => ({ valueOf() { note("v"); act(); throw `thrown${id}`; } })),
    noPrimitive: (act) => numbered((note) => ({ [toPrimitive]() { note("n"); act(); return {}; } })),
    noFunction: () => numbered(() => ({ [toPrimitive]: 1 })),
  }, null);
  return $;
});
