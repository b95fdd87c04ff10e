// How console.log and error messages show a value: the layout of Node's util.inspect for plain data.
//
// It runs in the private realm (console.js), whose built-ins no script can replace. So methods of strings and arrays created here are safe to
// use. The values to show come from the realm of the scripts. Their kinds are determined from their internal slots, through the functions taken
// below, and never by `instanceof` or by their own methods. Next: messages.js.
(function (text) {
  "use strict";

  const { isRegExp, isWeakMap, isWeakSet } = text.types;
  const MAX_ITEMS = 100;
  const MAX_DEPTH = 2;
  const LINE = 80; // Node breaks an object over several lines when it would come near this
  const TypedArray = Object.getPrototypeOf(Uint8Array);
  const typedName = Object.getOwnPropertyDescriptor(TypedArray.prototype, Symbol.toStringTag).get;
  const typedLength = Object.getOwnPropertyDescriptor(TypedArray.prototype, "length").get;
  const getter = (Class, key) => Object.getOwnPropertyDescriptor(Class.prototype, key).get;
  const mapSize = getter(Map, "size");
  const setSize = getter(Set, "size");
  const bufferLength = getter(ArrayBuffer, "byteLength");
  const bufferDetached = getter(ArrayBuffer, "detached");
  const sharedLength = getter(SharedArrayBuffer, "byteLength");
  const regExpSource = getter(RegExp, "source");
  const FLAGS = { hasIndices: "d", global: "g", ignoreCase: "i", multiline: "m", dotAll: "s", unicode: "u",
    unicodeSets: "v", sticky: "y" };
  const regExpFlags = Object.keys(FLAGS).map((key) => [getter(RegExp, key), FLAGS[key]]);
  const unboxed = [Number, String, Boolean, BigInt, Symbol].map((Class) => Class.prototype.valueOf);
  const custom = Symbol.for("nodejs.util.inspect.custom");

  /** The result of a method that reads internal slots; undefined if the object is of another kind. */
  function slot(method, object) {
    try {
      return method.call(object);
    } catch {
      return undefined;
    }
  }

  function inspect(value, { depth = MAX_DEPTH } = {}) {
    const state = { depth: depth ?? Infinity, seen: [], circular: new Map(), deepest: 0 };
    return show(value, state, 0, 0);
  }

  function show(value, state, level, indent, typed = false) {
    switch (typeof value) {
      case "string": return quote(value);
      case "number": return Object.is(value, -0) ? "-0" : String(value);
      case "bigint": return `${value}n`;
      case "symbol": return value.toString();
      case "undefined": case "boolean": return String(value);
    }
    if (value === null) return "null";
    return typed ? String(value) : showObject(value, state, level, indent);
  }

  function showObject(object, state, level, indent) {
    if (state.seen.includes(object)) {
      if (!state.circular.has(object)) state.circular.set(object, state.circular.size + 1);
      return `[Circular *${state.circular.get(object)}]`;
    }
    if (typeof object[custom] === "function") {
      const shown = object[custom](state.depth - level, text.options(), text.scriptsInspect);
      if (shown !== object) return typeof shown === "string" ? shown : show(shown, state, level, indent);
    }
    const shape = describe(object);
    const isEmpty = () => shape.items(() => "").length + keys(object, shape).length === 0;
    if (level > state.depth && !isEmpty()) return `[${shape.name ?? "Object"}]`;
    state.seen.push(object);
    const { deepest } = state;
    state.deepest = level;
    const inner = (value) => show(value, state, level + 1, indent + 2);
    const items = [...shape.items(inner), ...keys(object, shape).map((key) => property(object, key, inner))];
    state.seen.pop();
    const mark = state.circular.has(object) ? `<ref *${state.circular.get(object)}> ` : "";
    if (items.length === 0) {
      // As in Node, empty objects do not count as a level.
      state.deepest = deepest;
      return mark + (shape.base ?? `${shape.prefix}${shape.open}${shape.close}`);
    }
    const start = mark + (shape.base ? `${shape.base} ` : shape.prefix) + shape.open;
    return layout(items, { ...shape, start }, state, level, indent);
  }

  /** The delimiters of an object, and how to list its contents that are not properties. */
  function describe(object) {
    const name = constructorName(object);
    const shape = { name, prefix: name === "Object" ? "" : `${name ?? "[Object: null prototype]"} `, open: "{", close: "}" };
    shape.items = () => [];
    if (Array.isArray(object)) return list(shape, object, name === "Array" ? "" : `${name}(${object.length}) `);
    const kind = typedName.call(object);
    if (kind) return list(shape, object, `${name ?? kind}(${typedLength.call(object)}) `, typedLength.call(object));
    const size = slot(mapSize, object) ?? slot(setSize, object);
    const bytes = slot(bufferLength, object) ?? slot(sharedLength, object);
    const time = slot(Date.prototype.getTime, object);
    const promised = text.promiseState(object);
    const boxed = unboxed.map((valueOf) => slot(valueOf, object)).find((value) => value !== undefined);
    if (size !== undefined) {
      shape.prefix = `${name}(${size}) `;
      shape.items = (inner) => limit(members(object).map((each) => each.map(inner).join(" => ")));
    } else if (bytes !== undefined) shape.items = () => [slot(bufferDetached, object) ? "(detached)" : contents(object, bytes), `byteLength: ${bytes}`];
    else if (promised) shape.items = (inner) => promise(promised, inner);
    else if (typeof object === "function") shape.base = functionName(object);
    else if (Error.isError(object)) shape.base = errorText(object);
    else if (time !== undefined) shape.base = isNaN(time) ? "Invalid Date" : new Date(time).toISOString();
    else if (isRegExp(object)) shape.base = regExpText(object);
    else if (isWeakMap(object) || isWeakSet(object)) shape.items = () => ["<items unknown>"];
    else if (boxed !== undefined) shape.base = `[${name}: ${show(boxed)}]`;
    else if (typeof object[Symbol.toStringTag] === "string" && object[Symbol.toStringTag] !== name) {
      shape.prefix = `${name ?? "Object"} [${object[Symbol.toStringTag]}] `;
    }
    return shape;
  }

  function list(shape, object, prefix, length = object.length) {
    const items = (inner) => {
      const shown = [];
      for (let at = 0; at < length && shown.length < MAX_ITEMS; at++) {
        let gap = at;
        while (gap < length && !Object.hasOwn(object, gap)) gap++;
        if (gap > at) shown.push(`<${gap - at} empty item${gap - at > 1 ? "s" : ""}>`);
        else shown.push(inner(object[at]));
        at = Math.max(at, gap - 1);
      }
      return length > MAX_ITEMS ? [...shown, more(length - MAX_ITEMS)] : shown;
    };
    return { ...shape, prefix, open: "[", close: "]", items, isList: true };
  }

  const limit = (items) =>
    items.length > MAX_ITEMS ? [...items.slice(0, MAX_ITEMS), more(items.length - MAX_ITEMS)] : items;
  const more = (count) => `... ${count} more item${count > 1 ? "s" : ""}`;

  /** The entries of a Map, as pairs, or the values of a Set. */
  function members(object) {
    const all = [];
    if (slot(mapSize, object) !== undefined) Map.prototype.forEach.call(object, (value, key) => all.push([key, value]));
    else Set.prototype.forEach.call(object, (value) => all.push([value]));
    return all;
  }

  function regExpText(object) {
    const flags = regExpFlags.map(([has, flag]) => (has.call(object) ? flag : "")).join("");
    return `/${regExpSource.call(object)}/${flags}`;
  }

  function contents(buffer, length) {
    const bytes = [...new Uint8Array(buffer, 0, Math.min(50, length))];
    const rest = length - bytes.length;
    const shown = bytes.map((each) => each.toString(16).padStart(2, "0")).join(" ");
    return `[Uint8Contents]: <${shown}${rest > 0 ? ` ... ${rest} more byte${rest > 1 ? "s" : ""}` : ""}>`;
  }

  /** `promised` is an array of the scripts' realm. It is not destructured, because that would use their iterator. */
  function promise(promised, inner) {
    if (promised[0] === "pending") return ["<pending>"];
    return [promised[0] === "rejected" ? `<rejected> ${inner(promised[1])}` : inner(promised[1])];
  }

  function functionName(object) {
    const source = Function.prototype.toString.call(object);
    if (source.startsWith("class")) {
      const base = Object.getPrototypeOf(object)?.name;
      return `[class ${object.name || "(anonymous)"}${base && typeof base === "string" ? ` extends ${base}` : ""}]`;
    }
    const tag = object[Symbol.toStringTag];
    const isKind = typeof tag === "string" && /^(Async|Generator|AsyncGenerator)Function$/.test(tag);
    const kind = isKind ? tag : "Function";
    return object.name ? `[${kind}: ${object.name}]` : `[${kind} (anonymous)]`;
  }

  function keys(object, shape) {
    const own = Reflect.ownKeys(object).filter((key) => Object.prototype.propertyIsEnumerable.call(object, key));
    if (shape.isList) return own.filter((key) => typeof key === "symbol" || !isIndex(key));
    if (Error.isError(object)) {
      const hidden = (key) => Object.hasOwn(object, key) && !own.includes(key);
      const cause = hidden("cause") ? ["cause"] : [];
      const errors = hidden("errors") && Array.isArray(object.errors) ? ["errors"] : [];
      return [...own.filter((key) => key !== "stack" && key !== "message" && key !== "code"), ...cause, ...errors];
    }
    if (slot(String.prototype.valueOf, object) !== undefined) return own.filter((key) => typeof key === "symbol" || !isIndex(key));
    return own;
  }

  const isIndex = (key) => /^(0|[1-9]\d*)$/.test(key);

  function property(object, key, inner) {
    const { get, set, value } = Object.getOwnPropertyDescriptor(object, key);
    const shown = get ? (set ? "[Getter/Setter]" : "[Getter]") : set ? "[Setter]" : inner(value);
    if ((key === "cause" || key === "errors") && Error.isError(object)) {
      // As Node does, whether or not a script has put it there itself.
      if (key === "cause" || !Object.getOwnPropertyDescriptor(object, key).enumerable) return `[${key}]: ${shown}`;
    }
    if (typeof key === "symbol") return `[${key.toString()}]: ${shown}`;
    return `${/^[a-zA-Z_$][\w$]*$/.test(key) ? key : quote(key)}: ${shown}`;
  }

  function constructorName(object) {
    for (let proto = object; proto !== null; proto = Object.getPrototypeOf(proto)) {
      const descriptor = Object.getOwnPropertyDescriptor(proto, "constructor");
      if (typeof descriptor?.value === "function" && descriptor.value.name) return descriptor.value.name;
    }
    return undefined;
  }

  function quote(text) {
    const mark = !text.includes("'") ? "'" : !text.includes('"') ? '"' : !text.includes("`") ? "`" : "'";
    const escapes = { "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f", "\v": "\\v", "\\": "\\\\" };
    const hex = (each, digits) => each.charCodeAt(0).toString(16).toUpperCase().padStart(digits, "0");
    const body = text
      .replace(/[\x00-\x1f\x7f\\]/g, (each) => escapes[each] ?? `\\x${hex(each, 2)}`)
      .replace(/\p{Surrogate}/gu, (each) => `\\u${hex(each, 4)}`);
    return mark + (mark === "'" ? body.replaceAll("'", "\\'") : body) + mark;
  }

  /** Breaks the items of an object into lines, as Node does. */
  function layout(items, shape, state, level, indent) {
    const { start, close } = shape;
    const lines = shape.isList ? columns(items, indent) : items;
    // One line holds at most three further levels, nothing that stands in columns, and no more than fits on it: Node counts
    // each separator twice and leaves ten characters of room.
    if (lines === items && state.deepest - level < 3) {
      const joined = items.join(", ");
      const room = LINE - indent - 10 - start.length + (shape.base ? 1 : 0);
      const isShort = total(items) + 2 * items.length <= room;
      if (isShort && !joined.includes("\n") && !start.includes("\n")) return `${start} ${joined} ${close}`;
    }
    const pad = `\n${" ".repeat(indent)}`;
    return `${start}${pad}  ${lines.join(`,${pad}  `)}${pad}${close}`;
  }

  const total = (items) => items.reduce((sum, each) => sum + each.length, 0);
  const widest = (items) => items.reduce((most, each) => Math.max(most, each.length), 0);

  /**
   * Lines of several items each, in columns, numbers to the right; the items themselves if there are few, or if one is much
   * longer than the rest. Node wants about as many lines as make a square, where a character is 2.5 times as high as wide.
   */
  function columns(items, indent) {
    const rest = items.at(-1)?.startsWith("... ") ? [items.at(-1)] : [];
    const cells = rest.length > 0 ? items.slice(0, -1) : items;
    const cell = widest(cells) + 2;
    const sum = total(cells) + 2 * cells.length;
    if (items.length <= 6 || 3 * cell + indent >= LINE || (sum <= 5 * cell && cell > 8)) return items;
    const usual = Math.max(cell - 3 - Math.sqrt(cell - sum / items.length), 1);
    const square = Math.round(Math.sqrt(2.5 * usual * cells.length) / usual);
    const count = Math.min(square, Math.floor((LINE - indent) / cell), 12);
    if (count <= 1) return items;
    const widths = Array.from({ length: count }, (_, column) => widest(cells.filter((_, at) => at % count === column)));
    const numeric = cells.every((each) => /^(-?[\d.e+-]+n?|NaN|-?Infinity)$/.test(each));
    const lines = [];
    for (let at = 0; at < cells.length; at += count) {
      const line = cells.slice(at, at + count);
      const padded = line.map((each, column) => {
        if (numeric) return each.padStart(widths[column]);
        return column === line.length - 1 ? each : `${each},`.padEnd(widths[column] + 1);
      });
      lines.push(padded.join(numeric ? ", " : " "));
    }
    return [...lines, ...rest];
  }

  /** The title and the frames, which in V8 are together in `stack`. The engine's own contains only the frames. */
  function errorText(error) {
    const title = errorTitle(error);
    const stack = framesOf(error).join("\n");
    return stack ? `${title}\n${stack}` : `[${title}]`;
  }

  /** The lines of the stack that refer to scripts, without those of the engine and the host. */
  function framesOf(error) {
    const stack = text.stackOf(error);
    const lines = typeof stack === "string" ? stack.split("\n") : [];
    return lines.filter((line) => /^ +at /.test(line) && !/\((waitword:.*|native)\)$/.test(line));
  }

  function errorTitle(error) {
    const name = error.name === undefined ? "Error" : String(error.name);
    const message = error.message === undefined ? "" : String(error.message);
    const code = typeof error.code === "string" ? `${name} [${error.code}]` : name;
    return message ? `${code}: ${message}` : code;
  }

  Object.assign(text, { inspect, constructorName, errorTitle, framesOf, RangeErrorPrototype: RangeError.prototype });
});
