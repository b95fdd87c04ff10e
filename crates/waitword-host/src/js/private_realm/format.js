// The texts of console.log: printf on top of inspect.js. Next: messages.js.
(function (text) {
  "use strict";

  const { inspect } = text;

  /** printf-like, as console.log: %s %d %i %f %j %o %O %c %%; what is left over is appended. */
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

  text.format = format;
});
