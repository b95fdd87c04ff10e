// The first part: what the others share. Built-ins that scripts cannot replace, output, and errors with a code, like Node's. Next: stack.js.
//
// Scripts run in the same realm, and may overwrite what is in it. So the code that carries messages, timers and events between agents uses
// no methods of prototypes, no iterators (spread, `for`-`of`, array patterns), no templates (the engine implements them with `concat`) and no
// globals, but only functions that are taken before any script runs.
(function (host) {
  "use strict";

  const { apply, ownKeys } = Reflect;
  const { assign, defineProperty, getOwnPropertyDescriptor, setPrototypeOf } = Object;
  const { BigInt, Boolean, Error, Number, Promise, Proxy, RangeError, String, Symbol, TypeError, decodeURIComponent } = globalThis;
  const { endsWith, includes, indexOf, slice, startsWith, toWellFormed, trim } = String.prototype;

  /** A class with the methods that `Base` has now. */
  function sealed(Base) {
    class Sealed extends Base {}
    const keys = ownKeys(Base.prototype);
    for (let at = 0; at < keys.length; at++) {
      if (keys[at] === "constructor") continue;
      defineProperty(Sealed.prototype, keys[at], getOwnPropertyDescriptor(Base.prototype, keys[at]));
    }
    setPrototypeOf(Sealed.prototype, null);
    return Sealed;
  }

  const listPrototype = sealed(Array).prototype;

  /** An array whose `push` is the original one, whatever elements scripts add to prototypes of arrays. */
  const list = (...items) => setPrototypeOf(items, listPrototype);

  host.safe = {
    apply, assign, defineProperty, ownKeys, list,
    Map: sealed(Map), Set: sealed(Set), WeakMap: sealed(WeakMap),
    // For the parts that run when scripts may have replaced these.
    BigInt, Boolean, Error, Number, Promise, Proxy, RangeError, String, Symbol, TypeError, decodeURIComponent,
    freeze: Object.freeze, isArray: Array.isArray, isError: Error.isError, isInteger: Number.isInteger, keys: Object.keys, now: performance.now, parseJson: JSON.parse, round: Math.round,
    endsWith, indexOf, slice, startsWith, toWellFormed, trim,
  };
  /** The first argument of constructors that only the host calls. */
  host.own = { __proto__: null };
  // Names of methods that scripts do not see.
  for (const name of ["listenersChanged", "fire", "handler", "setHandler", "scope", "ended", "isTarget", "resists"]) host[name] = Symbol(name);
  /** Appends a value to a script's array, whatever its prototype is. */
  host.append = (array, value) => host.put(array, array.length, value);
  // Lone surrogates have no bytes in UTF-8.
  host.write = (stream, text) => host.native.write(stream, apply(toWellFormed, text, []));
  /** Defines an own property, as an assignment does if no prototype has a setter with this name. */
  host.put = (object, key, value) => {
    return defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  };
  /** The same, but not enumerable, like properties of built-in objects. */
  host.hide = (object, key, value) => {
    return defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  };
  host.error = (Type, code, message) => host.put(new Type(message), "code", code);
  /** The error for an argument that is not as `expected`: "of type function". */
  host.invalid = (name, expected, value) => {
    const kind = apply(includes, name, ["."]) ? "property" : "argument";
    const received = host.text().received(value);
    return host.error(TypeError, "ERR_INVALID_ARG_TYPE",
      'The "' + name + '" ' + kind + " must be " + expected + ". Received " + received);
  };
  host.enqueue = queueMicrotask;
  /** The origin of all agents, as a string: that of a file is opaque. */
  host.origin = "null";
  /** ToString, as the web applies it to arguments: a symbol throws. */
  host.domString = (value) => {
    if (typeof value === "symbol") throw new TypeError("Cannot convert a Symbol value to a string");
    return String(value);
  };
  /** The same, with lone surrogates replaced. */
  host.usv = (value) => apply(toWellFormed, host.domString(value), []);
  /** Defines constants on these objects, as in the web: alternating names and values. */
  host.constants = (pairs, ...objects) => {
    for (let at = 0; at < pairs.length; at += 2) {
      for (let each = 0; each < objects.length; each++) {
        defineProperty(objects[each], pairs[at], { __proto__: null, value: pairs[at + 1], writable: false, enumerable: true, configurable: false });
      }
    }
  };
  host.missing = (name) => host.error(TypeError, "ERR_MISSING_ARGS", 'The "' + name + '" argument must be specified');
  host.illegal = () => host.error(TypeError, "ERR_ILLEGAL_CONSTRUCTOR", "Illegal constructor");
  /** The error of a method whose `this` is not an instance of its class. */
  host.invalidThis = (name) => host.error(TypeError, "ERR_INVALID_THIS", 'Value of "this" must be of type ' + name);
  host.outOfRange = (name, range, value) => host.error(RangeError, "ERR_OUT_OF_RANGE",
    'The value of "' + name + '" is out of range. It must be ' + range + ". Received " + host.inspect(value));

  const noMembers = { __proto__: null };
  /** A dictionary of Web IDL, the `options` of a function: an object, or nothing, which has no members. */
  host.dictionary = (value, name = "options") => {
    if (value === undefined || value === null) return noMembers;
    if (typeof value !== "object" && typeof value !== "function") throw host.invalid(name, "of type object", value);
    return value;
  };
  /** Gives a class the shape of an interface of Web IDL: its members are enumerable, and its tag is its name. */
  host.shape = (Class) => {
    const enumerate = (object) => {
      const keys = ownKeys(object);
      for (let at = 0; at < keys.length; at++) {
        const key = keys[at];
        if (typeof key !== "string" || key === "constructor" || key === "prototype" || key === "name" || key === "length") continue;
        defineProperty(object, key, { __proto__: null, enumerable: true });
      }
    };
    enumerate(Class);
    enumerate(Class.prototype);
    host.tag(Class.prototype, Class.name);
  };
  /** The name of an object in `Object.prototype.toString`. */
  host.tag = (object, name) => defineProperty(object, Symbol.toStringTag, { __proto__: null, value: name, configurable: true });

  const parts = new host.safe.Map();
  /** The exports of a part that most programs do not need. It is loaded at first use. */
  host.part = (name) => {
    if (!parts.has(name)) parts.set(name, host.native.runPart(name, host));
    return parts.get(name);
  };
  /** The exports of a part, if it is loaded already. */
  host.made = (name) => parts.get(name);
});
