// Structured clone: a graph of values to a flat table and back. The table holds only what the engine can write by
// itself (primitives, arrays, ArrayBuffers, SharedArrayBuffers), so cycles and depth cost nothing there, and what may
// not be cloned is refused here, with the DataCloneError that the standard wants. Next: worker_threads.js.
//
// A row of the table is [kind, ...fields]. A field that stands for an object is [row number]; anything else is itself.
(function (host) {
  "use strict";

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
  const mapEntries = Map.prototype.entries;
  const setValues = Set.prototype.values;
  const dateValue = Date.prototype.getTime;
  const regExpSource = getter(RegExp.prototype, "source");
  const regExpFlags = getter(RegExp.prototype, "flags");
  const typedArrays = new Map(
    [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array,
      Float64Array, BigInt64Array, BigUint64Array, globalThis.Float16Array]
      .filter(Boolean).map((each) => [each.name, each]),
  );
  const errorTypes = new Map(
    [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].map((each) => [each.name, each]),
  );

  /** The table of `value`. Buffers in `transfer` move into it, once everything has been read. */
  function encode(value, transfer = []) {
    checkTransfer(transfer);
    const rows = [];
    const seen = new Map();
    const objects = [];
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
    for (let at = 0; at < objects.length; at++) rows.push(row(objects[at], field));
    for (const buffer of transfer) {
      const moved = transferBuffer.call(buffer);
      if (seen.has(buffer)) rows[seen.get(buffer)] = ["buffer", moved];
    }
    return [root, rows];
  }

  function checkTransfer(transfer) {
    for (const each of transfer) {
      if (!brand(bufferLength, each) && each !== null) refuse(each, "cannot be transferred: only an ArrayBuffer can");
      if (bufferDetached.call(each)) refuse(each, "is already detached");
    }
    if (new Set(transfer).size !== transfer.length) refuse(transfer, "names one buffer twice");
  }

  function row(object, field) {
    const proto = Object.getPrototypeOf(object);
    if (Array.isArray(object)) return array(object, field);
    if (proto === Object.prototype || proto === null) return plain(object, field);
    if (brand(mapEntries, object)) {
      return ["map", ...[...mapEntries.call(object)].flatMap(([key, value]) => [field(key), field(value)])];
    }
    if (brand(setValues, object)) return ["set", ...[...setValues.call(object)].map(field)];
    if (brand(dateValue, object)) return ["date", dateValue.call(object)];
    if (brand(sharedLength, object)) return ["buffer", object];
    if (brand(bufferLength, object)) {
      if (bufferDetached.call(object)) refuse(object, "is detached and could not be cloned");
      return ["buffer", object];
    }
    const kind = typedName.call(object);
    if (kind !== undefined) {
      const buffer = typedBuffer.call(object);
      return ["typed", kind, field(buffer), typedOffset.call(object), fixedLength(object, buffer)];
    }
    if (brand(viewBuffer, object)) {
      return ["view", field(viewBuffer.call(object)), viewOffset.call(object), viewLength.call(object)];
    }
    if (object instanceof RegExp && brand(regExpSource, object)) {
      return ["regexp", regExpSource.call(object), regExpFlags.call(object)];
    }
    if (Error.isError(object)) return error(object, field);
    for (const wrapper of [Number, String, Boolean, BigInt]) {
      const value = wrapper.prototype.valueOf;
      if (brand(value, object)) return ["boxed", value.call(object)];
    }
    if ([Promise, WeakMap, WeakSet, WeakRef, host.EventEmitter].some((each) => object instanceof each)) refuse(object);
    return plain(object, field);
  }

  function array(object, field) {
    const keys = Object.keys(object);
    // Indices come first among the keys: if the last one is the last index and none is missing, there is nothing else.
    const dense = keys.length === object.length && (keys.at(-1) ?? "-1") === String(object.length - 1);
    if (!dense) return addProperties(["array", object.length], object, keys, field);
    const row = ["list"];
    for (let at = 0; at < object.length; at++) row.push(field(object[at]));
    return row;
  }

  /**
   * Undefined for a view that follows the length of its buffer: it has to go on doing so on the other side. Scripts
   * cannot ask a view whether it does; one that reaches the end of a buffer that can grow is taken to.
   */
  function fixedLength(view, buffer) {
    const shared = brand(sharedLength, buffer);
    const length = typedLength.call(view);
    if (!(shared ? sharedGrowable : bufferResizable).call(buffer)) return length;
    const rest = (shared ? sharedLength : bufferLength).call(buffer) - typedOffset.call(view);
    return rest - length * view.BYTES_PER_ELEMENT < view.BYTES_PER_ELEMENT ? undefined : length;
  }

  function error(object, field) {
    const name = errorTypes.has(object.name) ? object.name : "Error";
    const fields = [name, text(object.message), text(object.stack)];
    if (Object.hasOwn(object, "cause")) fields.push(field(object.cause));
    return ["error", ...fields];
  }

  const text = (value) => (value === undefined ? undefined : String(value));

  const plain = (object, field) => addProperties(["object"], object, Object.keys(object), field);

  function addProperties(row, object, keys, field) {
    for (const key of keys) row.push(key, field(object[key]));
    return row;
  }

  function brand(method, object) {
    try {
      method.call(object);
      return true;
    } catch {
      return false;
    }
  }

  function refuse(value, why = "could not be cloned.") {
    const shown = typeof value === "object" ? `#<${value?.constructor?.name ?? "Object"}>` : String(value);
    throw new DOMException(`${shown} ${why}`, "DataCloneError");
  }

  /** The value that a table describes, with new objects for everything but the memory of SharedArrayBuffers. */
  function decode([root, rows]) {
    const objects = rows.map(shell);
    const value = (each) => (typeof each === "object" && each !== null ? objects[each[0]] : each);
    // Views come after all buffers, contents after all objects: whatever a field names exists by then.
    rows.forEach((row, at) => {
      if (row[0] === "typed") objects[at] = new (typedArrays.get(row[1]))(value(row[2]), row[3], row[4]);
      else if (row[0] === "view") objects[at] = new DataView(value(row[1]), row[2], row[3]);
    });
    rows.forEach((row, at) => fill(objects[at], row, value));
    return value(root);
  }

  function shell(row) {
    switch (row[0]) {
      case "array": return new Array(row[1]);
      case "list": return [];
      case "object": return {};
      case "map": return new Map();
      case "set": return new Set();
      case "date": return new Date(row[1]);
      case "buffer":
        // Whoever has asked for the length of growable memory follows its growth; so does whoever was sent it.
        brand(sharedLength, row[1]);
        return row[1];
      case "regexp": return new RegExp(row[1], row[2]);
      case "boxed": return Object(row[1]);
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
        for (let at = 1; at < row.length; at++) object.push(value(row[at]));
        return;
      case "map":
        for (let at = 1; at < row.length; at += 2) object.set(value(row[at]), value(row[at + 1]));
        return;
      case "set":
        for (let at = 1; at < row.length; at++) object.add(value(row[at]));
        return;
      case "error":
        if (row.length > 4) define(object, "cause", value(row[4]), false);
    }
  }

  function fillProperties(object, row, start, value) {
    for (let at = start; at < row.length; at += 2) {
      // An assignment to this one would change the prototype.
      if (row[at] === "__proto__") define(object, row[at], value(row[at + 1]), true);
      else object[row[at]] = value(row[at + 1]);
    }
  }

  function define(object, key, value, enumerable) {
    return Object.defineProperty(object, key, { value, enumerable, writable: true, configurable: true });
  }

  host.encode = encode;
  host.decode = decode;
  host.DOMException = DOMException;
});
