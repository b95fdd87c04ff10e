// Texts based on inspect.js: those of console.log, and the host's messages about wrong values, thrown values and arguments. Also the parts of
// `data:` URLs; their interface for scripts is in encoding.js.
(function (text) {
  "use strict";

  const { constructorName, errorTitle, framesOf, inspect } = text;

  /** printf-like, as in console.log: %s %d %i %f %j %o %O %c %%. Other arguments are appended. */
  function format(...args) {
    const [first, ...rest] = args.length > 0 ? args : [""];
    if (typeof first !== "string") return [first, ...rest].map((each) => display(each)).join(" ");
    const shown = first.replace(/%[sdifjoOc%]/g, (code) => {
      if (code === "%%") return rest.length || first !== "%%" ? "%" : code;
      if (rest.length === 0) return code;
      return convert(code[1], rest.shift());
    });
    return [shown, ...rest.map((each) => display(each))].join(" ");
  }

  const display = (value) => (typeof value === "string" ? value : inspect(value));

  function convert(code, value) {
    switch (code) {
      case "s": return stringify(value);
      case "d": return typeof value === "bigint" ? `${value}n` : typeof value === "object" ? "NaN" : number(Number, value);
      case "i": return typeof value === "bigint" ? `${value}n` : number((each) => Number.parseInt(each), value);
      case "f": return number((each) => Number.parseFloat(each), value);
      case "j": return json(value);
      case "o": return inspect(value, { depth: 4 });
      case "O": return inspect(value);
      default: return "";
    }
  }

  function number(convertOne, value) {
    const converted = typeof value === "symbol" ? NaN : convertOne(value);
    return Object.is(converted, -0) ? "-0" : String(converted);
  }

  function stringify(value) {
    if (typeof value === "bigint") return `${value}n`;
    if (typeof value === "object" && value !== null) return inspect(value, { depth: 0 });
    return Object.is(value, -0) ? "-0" : String(value);
  }

  function json(value) {
    try {
      return JSON.stringify(value);
    } catch (error) {
      if (/circular/i.test(error.message)) return "[Circular]";
      throw error;
    }
  }

  function plainTitle(error) {
    const name = error.name === undefined ? "Error" : String(error.name);
    const message = error.message === undefined ? "" : String(error.message);
    return name && message ? `${name}: ${message}` : name || message;
  }

  /** A thrown value in one line, and its position: file, line, column. */
  function placeOf(thrown) {
    if (!Error.isError(thrown)) return [inspect(thrown), "", 0, 0];
    const [, file = "", line = 0, column = 0] = /^ +at (?:.* \()?(.*?):(\d+)(?::(\d+))?\)?$/.exec(framesOf(thrown)[0]) ?? [];
    return [plainTitle(thrown), file, Number(line), Number(column)];
  }

  /** The description of an argument of the wrong type. */
  function received(value) {
    if (value === undefined || value === null) return String(value);
    if (typeof value === "function") return `function ${value.name}`;
    if (typeof value === "object") {
      const name = constructorName(value);
      return name ? `an instance of ${name}` : inspect(value, { depth: -1 });
    }
    const shown = inspect(value);
    return `type ${typeof value} (${shown.length > 28 ? `${shown.slice(0, 25)}...` : shown})`;
  }

  /** An error as text: title, frames, and the properties that the script added: its cause, a code, others. */
  function describeError(error) {
    const shown = inspect(error);
    const at = shown.lastIndexOf("{\n");
    const details = at > 0 && shown.endsWith("}") ? shown.slice(at) : "";
    return [errorTitle(error), framesOf(error).join("\n"), details];
  }

  /** The type, encoding and contents of a `data:` URL; undefined if it is not one. The type is optional. */
  function parseDataUrl(url) {
    const [, type, settings, body] = /^data:([^,;]*)([^,]*),([^#]*)/i.exec(url.replace(/[\t\n\r]/g, "")) ?? [];
    if (body === undefined) return undefined;
    const known = /^\s*([^/\s]+\/[^/\s]+)\s*$/.exec(type)?.[1].toLowerCase();
    return { type: known, isBase64: /; *base64 *$/i.test(settings), body };
  }

  /** The type of a Blob: empty if it is not ASCII. */
  const mimeType = (type) => (/^[\x20-\x7e]*$/.test(type) ? type.toLowerCase() : "");

  Object.assign(text, { describeError, format, mimeType, parseDataUrl, placeOf, received });
});
