// Structured clone: a graph of values to a flat table and back. The table holds only what the engine can write by
// itself (primitives, arrays, ArrayBuffers, SharedArrayBuffers), so cycles and depth cost nothing there, and what may
// not be cloned is refused here, with the DataCloneError that the standard wants. Next: url.js.
//
// A row of the table is [kind, ...fields]. A field that stands for an object is [row number]; anything else is itself.
(function (host) {
  "use strict";

  const { Array, ArrayBuffer, BigInt, Boolean, DataView, Date, DOMException, Error, Number, Object, Promise, RegExp,
    String, WeakMap, WeakRef, WeakSet } = globalThis;
  const { apply, list } = host.safe;
  const { defineProperty, getPrototypeOf, hasOwn, keys: keysOf } = Object;
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
  const transferBuffer = ArrayBuffer.prototype.transfer;
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
  const regExpFlags = getter(RegExp.prototype, "flags");
  const unboxed = list(Number.prototype.valueOf, String.prototype.valueOf, Boolean.prototype.valueOf,
    BigInt.prototype.valueOf);
  const isPrototypeOf = Object.prototype.isPrototypeOf;
  const refused = list(Promise.prototype, WeakMap.prototype, WeakSet.prototype, WeakRef.prototype,
    host.EventEmitter.prototype, host.EventTarget.prototype);
  const NewMap = Map;
  const NewSet = Set;
  const SafeMap = host.safe.Map;
  const SafeSet = host.safe.Set;
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

  /** The table of `value`. Buffers and ports in `transfer` move into it, once everything has been read. */
  function encode(value, transfer) {
    const { buffers: moving, ports } = checkTransfer(transfer);
    const rows = list();
    const seen = new SafeMap();
    const objects = list();
    const field = (each) => {
      if (typeof each === "symbol" || typeof each === "function") refuse(each);
      if (typeof each !== "object" || each === null) return each;
      if (!seen.has(each)) {
        seen.set(each, objects.length);
        objects.push(each);
      }
      return [seen.get(each)];
    };
    const root = field(value);
    // The list grows while it is walked: breadth first, so that a long chain needs no stack.
    for (let at = 0; at < objects.length; at++) {
      rows.push(host.ports.isPort(objects[at]) ? port(objects[at], ports) : row(objects[at], field));
    }
    // What was read may have been a getter that sent a port away.
    for (let at = 0; at < ports.length; at++) checkPort(ports[at]);
    for (let at = 0; at < moving.length; at++) {
      const moved = apply(transferBuffer, moving[at], []);
      if (seen.has(moving[at])) rows[seen.get(moving[at])] = ["buffer", moved];
    }
    const moved = list();
    for (let at = 0; at < ports.length; at++) moved.push(host.ports.detach(ports[at]));
    return [root, rows, moved];
  }

  /** What to transfer: lists of our own, because a script can change its own list meanwhile. */
  function checkTransfer(transfer) {
    const buffers = list();
    const ports = list();
    const seen = new SafeSet();
    const all = transfer === undefined || isArray(transfer) ? transfer : list(...transfer);
    for (let at = 0; at < (all?.length ?? 0); at++) {
      const each = all[at];
      if (seen.has(each)) refuse(transfer, "names one object twice");
      seen.add(each);
      if (host.ports.isPort(each)) {
        checkPort(each);
        ports.push(each);
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
    return { buffers, ports };
  }

  function checkPort(port) {
    if (!host.ports.canMove(port)) refuse(port, "in the transfer list is closed, or already detached");
  }

  function port(object, ports) {
    for (let at = 0; at < ports.length; at++) if (ports[at] === object) return ["port", at];
    return refuse(object, "was found in the message but not listed in the transfer list");
  }

  function row(object, field) {
    const proto = getPrototypeOf(object);
    if (isArray(object)) return array(object, field);
    if (proto === Object.prototype || proto === null) return plain(object, field);
    if (brand(mapSize, object)) {
      const row = list("map");
      // Read to the end before any field is: a getter in one could change the Map.
      apply(mapForEach, object, [(value, key) => void (row.push(key), row.push(value))]);
      return fields(row, field);
    }
    if (brand(setSize, object)) {
      const row = list("set");
      apply(setForEach, object, [(value) => void row.push(value)]);
      return fields(row, field);
    }
    if (brand(dateValue, object)) return ["date", apply(dateValue, object, [])];
    if (brand(sharedLength, object)) return ["buffer", object];
    if (brand(bufferLength, object)) {
      if (apply(bufferDetached, object, [])) refuse(object, "is detached and could not be cloned");
      return ["buffer", object];
    }
    const kind = apply(typedName, object, []);
    if (kind !== undefined) {
      const buffer = apply(typedBuffer, object, []);
      return ["typed", kind, field(buffer), apply(typedOffset, object, []), fixedLength(object, kind, buffer)];
    }
    if (brand(viewBuffer, object)) {
      const buffer = field(apply(viewBuffer, object, []));
      return ["view", buffer, apply(viewOffset, object, []), apply(viewLength, object, [])];
    }
    if (object instanceof RegExp && brand(regExpSource, object)) {
      return ["regexp", apply(regExpSource, object, []), apply(regExpFlags, object, [])];
    }
    if (isError(object)) return error(object, field);
    for (let at = 0; at < unboxed.length; at++) {
      if (brand(unboxed[at], object)) return ["boxed", apply(unboxed[at], object, [])];
    }
    for (let at = 0; at < refused.length; at++) if (apply(isPrototypeOf, refused[at], [object])) refuse(object);
    return plain(object, field);
  }

  function fields(row, field) {
    for (let at = 1; at < row.length; at++) row[at] = field(row[at]);
    return row;
  }

  function array(object, field) {
    const keys = keysOf(object);
    // Indices come first among the keys: if the last one is the last index and none is missing, there is nothing else.
    const last = keys.length > 0 ? keys[keys.length - 1] : "-1";
    const dense = keys.length === object.length && last === String(object.length - 1);
    if (!dense) return addProperties(list("array", object.length), object, keys, field);
    const row = list("list");
    for (let at = 0; at < object.length; at++) row.push(field(object[at]));
    return row;
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

  function error(object, field) {
    const name = errorTypes.has(object.name) ? object.name : "Error";
    const row = list("error", name, text(object.message),
      text(hasOwn(object, "stack") ? object.stack : apply(errorStack, object, [])));
    if (hasOwn(object, "cause")) row.push(field(object.cause));
    return row;
  }

  const text = (value) => (value === undefined ? undefined : String(value));

  const plain = (object, field) => addProperties(list("object"), object, keysOf(object), field);

  function addProperties(row, object, keys, field) {
    for (let at = 0; at < keys.length; at++) {
      row.push(keys[at]);
      row.push(field(object[keys[at]]));
    }
    return row;
  }

  function brand(method, object) {
    try {
      apply(method, object, []);
      return true;
    } catch {
      return false;
    }
  }

  function refuse(value, why = "could not be cloned.") {
    const shown = typeof value === "object" ? "#<" + String(value?.constructor?.name ?? "Object") + ">" : String(value);
    throw new DOMException(shown + " " + why, "DataCloneError");
  }

  /**
   * The value that a table describes, with new objects for everything but the memory of SharedArrayBuffers. The ports that
   * came with it go to the list `ports` as well: the value need not name them.
   */
  function decode(table, ports = list()) {
    const rows = table[1];
    const ids = table[2];
    for (let at = 0; at < ids.length; at++) ports.push(host.ports.adopt(ids[at]));
    const objects = list();
    for (let at = 0; at < rows.length; at++) objects.push(shell(rows[at], ports));
    const value = (each) => (typeof each === "object" && each !== null ? objects[each[0]] : each);
    // Views come after all buffers, contents after all objects: whatever a field names exists by then.
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at];
      if (row[0] === "typed") objects[at] = new (typedArrays.get(row[1]))(value(row[2]), row[3], row[4]);
      else if (row[0] === "view") objects[at] = new DataView(value(row[1]), row[2], row[3]);
    }
    for (let at = 0; at < rows.length; at++) fill(objects[at], rows[at], value);
    return value(table[0]);
  }

  function shell(row, ports) {
    switch (row[0]) {
      case "array": return new Array(row[1]);
      case "list": return [];
      case "object": return {};
      case "map": return new NewMap();
      case "set": return new NewSet();
      case "date": return new Date(row[1]);
      case "buffer":
        // Whoever has asked for the length of growable memory follows its growth; so does whoever was sent it.
        brand(sharedLength, row[1]);
        return row[1];
      case "regexp": return new RegExp(row[1], row[2]);
      case "boxed": return Object(row[1]);
      case "port": return ports[row[1]];
      case "error": {
        const object = new (errorTypes.get(row[1]))(row[2]);
        return define(object, "stack", row[3], false);
      }
    }
  }

  function fill(object, row, value) {
    switch (row[0]) {
      case "array": return fillProperties(object, row, 2, value);
      case "object": return fillProperties(object, row, 1, value);
      case "list":
        for (let at = 1; at < row.length; at++) put(object, Array.prototype, at - 1, value(row[at]));
        return;
      case "map":
        for (let at = 1; at < row.length; at += 2) apply(mapSet, object, [value(row[at]), value(row[at + 1])]);
        return;
      case "set":
        for (let at = 1; at < row.length; at++) apply(setAdd, object, [value(row[at])]);
        return;
      case "error":
        if (row.length > 4) define(object, "cause", value(row[4]), false);
    }
  }

  function fillProperties(object, row, start, value) {
    for (let at = start; at < row.length; at += 2) put(object, getPrototypeOf(object), row[at], value(row[at + 1]));
  }

  /** A new property. An assignment to one that the prototype has, `__proto__` for one, could end in a setter. */
  function put(object, proto, key, value) {
    if (key in proto) define(object, key, value, true);
    else object[key] = value;
  }

  function define(object, key, value, enumerable) {
    return defineProperty(object, key, { __proto__: null, value, enumerable, writable: true, configurable: true });
  }

  host.encode = encode;
  host.decode = decode;
  host.DOMException = DOMException;
});
