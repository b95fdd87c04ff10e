// The tables of console.table. In the private realm. Next: data_url_text.js.
(function (text) {
  "use strict";

  const VALUES = "Values";

  /** A table of the rows of `data`; undefined if it has none. `columns`: those to show. */
  function table(data, columns) {
    if (typeof data !== "object" || data === null) return undefined;
    const { title, rows } = rowsOf(data);
    const names = [];
    let hasValues = false;
    for (const [, value] of rows) {
      if (typeof value !== "object" || value === null) hasValues = true;
      else for (const key of Object.keys(value)) if (!names.includes(key)) names.push(key);
    }
    hasValues &&= columns === undefined;
    const shown = columns ? Array.from(columns, String) : names;
    const head = [title, ...shown, ...(hasValues ? [VALUES] : [])];
    const lines = rows.map(([index, value]) => {
      const isObject = typeof value === "object" && value !== null;
      const cells = shown.map((name) => (isObject && Object.hasOwn(value, name) ? cell(value[name]) : ""));
      return [index, ...cells, ...(hasValues ? [isObject ? "" : cell(value)] : [])];
    });
    return draw(head, lines);
  }

  function rowsOf(data) {
    const { isMap, isSet } = text.types;
    if (isMap(data)) {
      const rows = [];
      Map.prototype.forEach.call(data, (value, key) => rows.push([String(rows.length), { Key: key, Values: value }]));
      return { title: "(iteration index)", rows };
    }
    if (isSet(data)) {
      const rows = [];
      Set.prototype.forEach.call(data, (value) => rows.push([String(rows.length), value]));
      return { title: "(iteration index)", rows };
    }
    return { title: "(index)", rows: Object.keys(data).map((key) => [key, data[key]]) };
  }

  const cell = (value) => text.inspect(value, { depth: typeof value === "object" && value !== null ? 0 : 2 });

  function draw(head, lines) {
    const widths = head.map((name, at) => Math.max(...[head, ...lines].map((line) => line[at].length)) + 2);
    const rule = (left, middle, right) => left + widths.map((width) => "─".repeat(width)).join(middle) + right;
    const row = (cells) => `│${cells.map((each, at) => ` ${each}`.padEnd(widths[at])).join("│")}│`;
    return [rule("┌", "┬", "┐"), row(head), rule("├", "┼", "┤"), ...lines.map(row), rule("└", "┴", "┘")].join("\n");
  }

  text.table = table;
});
