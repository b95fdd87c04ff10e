// Structured clone, the part of it that knows the rarer kinds of values. What messages are mostly made of (primitives,
// objects, arrays, buffers) is written and read in Rust, host/clone/, and so is the order of it all. Next: timers.js.
//
// Here an object becomes a row, and a row an object: [kind, heads, ...values]. Of the values, the first `heads` are what
// the object is made with; what can refer to the object itself comes after them, and is put into it later.
(function (host) {
  "use strict";

  const { Array, ArrayBuffer, BigInt, Boolean, DataView, Date, DOMException, Error, Number, Object, Promise, RegExp,
    String, WeakMap, WeakRef, WeakSet } = globalThis;
  const { native } = host;
  const { apply, list } = host.safe;
  const { defineProperty, hasOwn } = Object;
  const { isArray } = Array;
  const { isError } = Error;
  const getter = (proto, key) => Object.getOwnPropertyDescriptor(proto, key).get;
  const TypedArray = Object.getPrototypeOf(Uint8Array);
  const typedName = getter(TypedArray.prototype, Symbol.toStringTag);
  const typedBuffer = getter(TypedArray.prototype, "buffer");
  const typedOffset = getter(TypedArray.prototype, "byteOffset");
  const typedLength = getter(TypedArray.prototype, "length");
  const viewBuffer = getter(DataView.prototype, "buffer");
  const viewOffset = getter(DataView.prototype, "byteOffset");
  const viewLength = getter(DataView.prototype, "byteLength");
  const bufferLength = getter(ArrayBuffer.prototype, "byteLength");
  const bufferDetached = getter(ArrayBuffer.prototype, "detached");
  const sharedLength = getter(SharedArrayBuffer.prototype, "byteLength");
  const sharedGrowable = getter(SharedArrayBuffer.prototype, "growable");
  const bufferResizable = getter(ArrayBuffer.prototype, "resizable");
  const mapSize = getter(Map.prototype, "size");
  const mapForEach = Map.prototype.forEach;
  const mapSet = Map.prototype.set;
  const setSize = getter(Set.prototype, "size");
  const setForEach = Set.prototype.forEach;
  const setAdd = Set.prototype.add;
  const dateValue = Date.prototype.getTime;
  const errorStack = getter(Error.prototype, "stack");
  const regExpSource = getter(RegExp.prototype, "source");
  // Not `flags`, which asks the object for properties that a script may have given it.
  const regExpFlags = list();
  for (const [flag, name] of [["d", "hasIndices"], ["g", "global"], ["i", "ignoreCase"], ["m", "multiline"],
    ["s", "dotAll"], ["u", "unicode"], ["v", "unicodeSets"], ["y", "sticky"]]) {
    regExpFlags.push(list(flag, getter(RegExp.prototype, name)));
  }
  const unboxed = list(Number.prototype.valueOf, String.prototype.valueOf, Boolean.prototype.valueOf,
    BigInt.prototype.valueOf);
  const isPrototypeOf = Object.prototype.isPrototypeOf;
  const refused = list(Promise.prototype, WeakMap.prototype, WeakSet.prototype, WeakRef.prototype,
    host.EventEmitter.prototype, host.EventTarget.prototype);
  const NewMap = Map;
  const NewSet = Set;
  const SafeMap = host.safe.Map;
  const SafeSet = host.safe.Set;
  const SafeWeakMap = host.safe.WeakMap;
  const { isView } = ArrayBuffer;
  const byName = (types) => {
    const named = new SafeMap();
    for (const each of types) if (each) named.set(each.name, each);
    return named;
  };
  const typedArrays = byName(
    [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array,
      Float64Array, BigInt64Array, BigUint64Array, globalThis.Float16Array],
  );
  const errorTypes = byName([Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError]);

  const nothing = list();

  /**
   * Writes `value` as the message that is sent next, and moves what is in `transfer`: the numbers that its ports have here.
   * Until something is wrong nothing has moved, and then nothing can be.
   */
  function pack(value, transfer) {
    if (transfer === undefined || (isArray(transfer) && transfer.length === 0)) {
      native.pack(value, nothing, nothing);
      return nothing;
    }
    const { buffers, ports, ids } = checkTransfer(transfer);
    native.pack(value, buffers, ports);
    // What was read may have been a getter that sent a port away.
    for (let at = 0; at < ports.length; at++) checkPort(ports[at]);
    native.seal(buffers, ports.length);
    for (let at = 0; at < ports.length; at++) host.ports.detach(ports[at]);
    return ids;
  }

  /** What to transfer: lists of our own, because a script can change its own list meanwhile. */
  function checkTransfer(transfer) {
    const buffers = list();
    const ports = list();
    const ids = list();
    const seen = new SafeSet();
    const all = transfer === undefined || isArray(transfer) ? transfer : list(...transfer);
    for (let at = 0; at < (all?.length ?? 0); at++) {
      const each = all[at];
      if (seen.has(each)) refuse(transfer, "names one object twice");
      seen.add(each);
      if (host.ports.isPort(each)) {
        checkPort(each);
        ports.push(each);
        ids.push(host.ports.idOf(each));
        continue;
      }
      if (!brand(bufferLength, each)) {
        refuse(each, "cannot be transferred: only an ArrayBuffer or a MessagePort can");
      }
      // As in Node, what may not be moved is copied.
      if (host.isUntransferable(each)) continue;
      if (apply(bufferDetached, each, [])) refuse(each, "is already detached");
      buffers.push(each);
    }
    return { buffers, ports, ids };
  }

  const uncloneable = new SafeWeakMap();

  /** As in Node, buffers and their views can be cloned all the same. */
  function markAsUncloneable(object) {
    if ((typeof object !== "object" && typeof object !== "function") || object === null) return;
    if (isView(object) || brand(bufferLength, object) || brand(sharedLength, object)) return;
    native.expectUncloneable();
    uncloneable.set(object, true);
  }

  function checkPort(port) {
    if (!host.ports.canMove(port)) refuse(port, "in the transfer list is closed, or already detached");
  }

  /** What an object is that Rust does not know; undefined if it is copied like any other, by its properties. */
  function row(object, isOrdinary) {
    if (host.ports.isPort(object)) refuse(object, "was found in the message but not listed in the transfer list");
    if (isOrdinary) return check(object);
    const kind = apply(typedName, object, []);
    if (kind !== undefined) {
      const buffer = apply(typedBuffer, object, []);
      return list("typed", 4, kind, buffer, apply(typedOffset, object, []), fixedLength(object, kind, buffer));
    }
    if (brand(mapSize, object)) {
      const row = list("map", 0);
      // Read to the end before any value is: a getter in one could change the Map.
      apply(mapForEach, object, [(value, key) => void (row.push(key), row.push(value))]);
      return row;
    }
    if (brand(setSize, object)) {
      const row = list("set", 0);
      apply(setForEach, object, [(value) => void row.push(value)]);
      return row;
    }
    if (isError(object)) return error(object);
    if (brand(dateValue, object)) return list("date", 1, apply(dateValue, object, []));
    if (brand(viewBuffer, object)) {
      if (!brand(viewLength, object)) refuse(object, "is out of the bounds of its buffer");
      const buffer = apply(viewBuffer, object, []);
      return list("view", 3, buffer, apply(viewOffset, object, []), apply(viewLength, object, []));
    }
    if (object instanceof RegExp && brand(regExpSource, object)) {
      return list("regexp", 2, apply(regExpSource, object, []), flagsOf(object));
    }
    for (let at = 0; at < unboxed.length; at++) {
      if (brand(unboxed[at], object)) return list("boxed", 1, apply(unboxed[at], object, []));
    }
    return check(object);
  }

  /** Refuses objects of ours, and others whose state is not in their properties. */
  function check(object) {
    for (let at = 0; at < refused.length; at++) if (apply(isPrototypeOf, refused[at], [object])) refuse(object);
  }

  /**
   * Undefined for a view that follows the length of its buffer: it has to go on doing so on the other side. Scripts
   * cannot ask a view whether it does; one that reaches the end of a buffer that can grow is taken to.
   */
  function fixedLength(view, kind, buffer) {
    const shared = brand(sharedLength, buffer);
    const length = apply(typedLength, view, []);
    if (!apply(shared ? sharedGrowable : bufferResizable, buffer, [])) return length;
    const rest = apply(shared ? sharedLength : bufferLength, buffer, []) - apply(typedOffset, view, []);
    const size = typedArrays.get(kind).BYTES_PER_ELEMENT;
    return rest - length * size < size ? undefined : length;
  }

  function flagsOf(regExp) {
    let flags = "";
    for (let at = 0; at < regExpFlags.length; at++) {
      if (apply(regExpFlags[at][1], regExp, [])) flags += regExpFlags[at][0];
    }
    return flags;
  }

  function error(object) {
    // Asked once: a getter may have another answer the next time.
    const name = object.name;
    const row = list("error", 3, errorTypes.has(name) ? name : "Error", text(object.message),
      text(hasOwn(object, "stack") ? object.stack : apply(errorStack, object, [])));
    if (hasOwn(object, "cause")) row.push(object.cause);
    return row;
  }

  const text = (value) => (value === undefined ? undefined : String(value));

  function brand(method, object) {
    try {
      apply(method, object, []);
      return true;
    } catch {
      return false;
    }
  }

  function refuse(value, why = "could not be cloned.") {
    throw new DOMException(shown(value) + " " + why, "DataCloneError");
  }

  function shown(value) {
    if (typeof value !== "object") return String(value);
    try {
      return "#<" + String(value?.constructor?.name || "Object") + ">";
    } catch {
      // A revoked proxy, say.
      return "#<Object>";
    }
  }

  function noRoom() {
    throw new DOMException("The message could not be cloned: out of memory", "DataCloneError");
  }

  /** The object that a row begins to describe, without what is put into it afterwards. Maps and Sets are filled in Rust. */
  function revive(kind, one, two, three, four) {
    switch (kind) {
      case "date": return new Date(one);
      case "regexp": return new RegExp(one, two);
      case "boxed": return Object(one);
      case "bigint": return BigInt(one);
      case "resizable": return new ArrayBuffer(one, { __proto__: null, maxByteLength: two });
      case "typed": return new (typedArrays.get(one))(two, three, four);
      case "view": return new DataView(one, two, three);
      case "error": return define(new (errorTypes.get(one))(two), "stack", three);
    }
  }

  /** Puts in what can refer to the object itself. */
  function fill(object, values) {
    define(object, "cause", values[0]);
  }

  function define(object, key, value) {
    return defineProperty(object, key, { __proto__: null, value, enumerable: false, writable: true, configurable: true });
  }

  native.setKit({
    row, revive, fill, refuse, noRoom,
    isUncloneable: (object) => uncloneable.has(object),
    objectPrototype: Object.prototype,
    Map: NewMap, mapSet,
    Set: NewSet, setAdd,
    isResizable: bufferResizable,
    maxByteLength: getter(ArrayBuffer.prototype, "maxByteLength"),
  });
  host.pack = pack;
  host.markAsUncloneable = markAsUncloneable;
  host.DOMException = DOMException;
});
