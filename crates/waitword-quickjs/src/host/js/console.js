// The console. One call is one write, so lines of several agents never mix. Next: process.js.
(function (host) {
  "use strict";

  const OUT = 1;
  const ERR = 2;
  const counts = new Map();
  const times = new Map();
  let margin = "";

  function print(stream, args) {
    // Plain text needs no formatting, and no built-in that a script could have replaced.
    const isPlain = args.length === 1 && typeof args[0] === "string" && args[0] !== "%%";
    const text = isPlain ? args[0] : host.format(...args);
    // Not a template: the engine makes those with String.prototype.concat.
    host.write(stream, margin + (margin ? text.replaceAll("\n", `\n${margin}`) : text) + "\n");
  }

  const out = (...args) => print(OUT, args);
  const err = (...args) => print(ERR, args);
  const elapsed = (label) => `${label}: ${(performance.now() - (times.get(label) ?? NaN)).toFixed(3)}ms`;

  host.console = {
    log: out,
    info: out,
    debug: out,
    warn: err,
    error: err,
    trace: (...args) => err(`${`Trace: ${host.format(...args)}`.trimEnd()}\n${host.framesOf(new Error()).join("\n")}`),
    assert: (condition, ...args) => {
      if (condition) return;
      const [first, ...rest] = args;
      if (typeof first === "string") err(`Assertion failed: ${first}`, ...rest);
      else err("Assertion failed", ...args);
    },
    dir: (value, options) => out(host.inspect(value, options)),
    group: (...args) => {
      if (args.length > 0) out(...args);
      margin += "  ";
    },
    groupEnd: () => {
      margin = margin.slice(2);
    },
    count: (label = "default") => {
      counts.set(label, (counts.get(label) ?? 0) + 1);
      out(`${label}: ${counts.get(label)}`);
    },
    countReset: (label = "default") => void counts.delete(label),
    time: (label = "default") => void times.set(label, performance.now()),
    timeLog: (label = "default", ...args) => out(elapsed(label), ...args),
    timeEnd: (label = "default") => {
      out(elapsed(label));
      times.delete(label);
    },
  };
});
