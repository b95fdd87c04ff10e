// Structured clone of the less common kinds of values. The most common ones (primitives, objects, arrays, buffers) are read and written in
// Rust, host/clone/, which also determines the order. Next: transfer.js.
//
// An object is converted into a row, and a row into an object: [kind, heads, ...values]. The object is created from the first `heads` of the
// values. The others can refer to the object itself, and are put into it later.
(function (host) {
  "use strict";

  const { Array, ArrayBuffer, BigInt, Boolean, DataView, Date, Error, Number, Object, Promise, RegExp, String, WeakMap, WeakRef,
    WeakSet } = globalThis;
  const { DOMException, domString, hide, native } = host;
  const { apply, list } = host.safe;
  const { getOwnPropertyDescriptor, hasOwn } = Object;
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
  const bufferMost = getter(ArrayBuffer.prototype, "maxByteLength");
  const bufferResize = ArrayBuffer.prototype.resize;
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
  // Not `flags`, which reads properties that a script may have defined on the object.
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

  const uncloneable = new SafeWeakMap();

  /** As in Node, buffers and their views can be cloned nevertheless. */
  function markAsUncloneable(object) {
    if ((typeof object !== "object" && typeof object !== "function") || object === null) return;
    if (isView(object) || host.isBuffer(object)) return;
    native.expectUncloneable();
    uncloneable.set(object, true);
  }

  /** The kind of an object that Rust does not handle; undefined if it is copied by its properties, like any other. */
  function row(object, isOrdinary) {
    if (host.ports.isPort(object)) refuse(object, "was found in the message but not listed in the transfer list");
    if (isOrdinary) return check(object);
    const kind = apply(typedName, object, []);
    if (kind !== undefined) {
      const buffer = apply(typedBuffer, object, []);
      const length = apply(typedLength, object, []);
      const size = typedArrays.get(kind).BYTES_PER_ELEMENT;
      const isTracking = followsBuffer(object, buffer, typedOffset, typedLength, size);
      return list("typed", 4, kind, buffer, apply(typedOffset, object, []), isTracking ? undefined : length);
    }
    if (brand(mapSize, object)) {
      const row = list("map", 0);
      // All entries are read before any value is written, because a getter in a value could change the Map.
      apply(mapForEach, object, [(value, key) => void (row.push(key), row.push(value))]);
      return row;
    }
    if (brand(setSize, object)) {
      const row = list("set", 0);
      apply(setForEach, object, [(value) => void row.push(value)]);
      return row;
    }
    if (host.isDOMException(object)) return exception(object);
    if (isError(object)) return error(object);
    if (brand(dateValue, object)) return list("date", 1, apply(dateValue, object, []));
    if (brand(viewBuffer, object)) {
      if (!brand(viewLength, object)) refuse(object, "is out of the bounds of its buffer");
      const buffer = apply(viewBuffer, object, []);
      const isTracking = followsBuffer(object, buffer, viewOffset, viewLength, 1);
      return list("view", 3, buffer, apply(viewOffset, object, []), isTracking ? undefined : apply(viewLength, object, []));
    }
    if (object instanceof RegExp && brand(regExpSource, object)) {
      return list("regexp", 2, apply(regExpSource, object, []), flagsOf(object));
    }
    for (let at = 0; at < unboxed.length; at++) {
      if (brand(unboxed[at], object)) return list("boxed", 1, apply(unboxed[at], object, []));
    }
    return check(object);
  }

  /** Refuses objects of the host, and others whose state is not in their properties. */
  function check(object) {
    for (let at = 0; at < refused.length; at++) if (apply(isPrototypeOf, refused[at], [object])) refuse(object);
  }

  /**
   * Whether a view tracks the length of its buffer, which its copy then must do as well. There is no function that tells. A view that does
   * not reach the end of its buffer does not track it. For another, the buffer is grown by an element for a moment. A shared buffer cannot
   * shrink again: then, and if the buffer cannot grow, a view that reaches the end is assumed to track the length.
   */
  function followsBuffer(view, buffer, offsetOf, lengthOf, size) {
    const shared = brand(sharedLength, buffer);
    if (!apply(shared ? sharedGrowable : bufferResizable, buffer, [])) return false;
    const length = apply(lengthOf, view, []);
    const whole = apply(shared ? sharedLength : bufferLength, buffer, []);
    if (whole - apply(offsetOf, view, []) - length * size >= size) return false;
    if (shared || whole + size > apply(bufferMost, buffer, [])) return true;
    apply(bufferResize, buffer, [whole + size]);
    const follows = apply(lengthOf, view, []) !== length;
    apply(bufferResize, buffer, [whole]);
    return follows;
  }

  function flagsOf(regExp) {
    let flags = "";
    for (let at = 0; at < regExpFlags.length; at++) {
      if (apply(regExpFlags[at][1], regExp, [])) flags += regExpFlags[at][0];
    }
    return flags;
  }

  function error(object) {
    // Read once, because a getter may return another value the next time.
    const name = object.name;
    // An inherited message, or one from a getter, is not cloned.
    const message = getOwnPropertyDescriptor(object, "message");
    const row = list("error", 3, errorTypes.has(name) ? name : "Error", message && "value" in message ? domString(message.value) : undefined,
      stackOf(object));
    if (hasOwn(object, "cause")) row.push(object.cause);
    return row;
  }

  /** As in the standard, and, as with other errors, with its stack. */
  function exception(object) {
    const { name, message } = host.partsOfDOMException(object);
    const row = list("exception", 3, name, message, text(host.stackOf(object)));
    if (hasOwn(object, "cause")) row.push(object.cause);
    return row;
  }

  const stackOf = (object) => text(hasOwn(object, "stack") ? object.stack : apply(errorStack, object, []));
  const text = (value) => (value === undefined ? undefined : String(value));

  /** Whether an object has the internal slots that a method needs. */
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
      // For example a revoked proxy.
      return "#<Object>";
    }
  }

  function noRoom() {
    throw new DOMException("The message could not be cloned: out of memory", "DataCloneError");
  }

  /** Creates the object of a row, without the values that are put into it afterwards. Rust fills Maps and Sets. */
  function revive(kind, one, two, three, four) {
    switch (kind) {
      case "date": return new Date(one);
      case "regexp": return new RegExp(one, two);
      case "boxed": return Object(one);
      case "bigint": return BigInt(one);
      case "resizable": return new ArrayBuffer(one, { __proto__: null, maxByteLength: two });
      case "typed": return new (typedArrays.get(one))(two, three, four);
      case "view": return new DataView(one, two, three);
      case "exception": return hide(new DOMException(two, one), "stack", three);
      case "error": return hide(new (errorTypes.get(one))(two), "stack", three);
    }
  }

  /** Adds the values that can refer to the object itself. */
  function fill(object, values) {
    hide(object, "cause", values[0]);
  }

  native.setCloneFunctions({
    row, revive, fill, refuse, noRoom,
    isUncloneable: (object) => uncloneable.has(object),
    objectPrototype: Object.prototype,
    Map: NewMap, mapSet,
    Set: NewSet, setAdd,
    isResizable: bufferResizable,
    maxByteLength: bufferMost,
  });
  host.brand = brand;
  /** Whether it is a buffer, shared or not. */
  host.isBuffer = (value) => brand(bufferLength, value) || brand(sharedLength, value);
  host.refuse = refuse;
  host.markAsUncloneable = markAsUncloneable;
});
