// How inspect.js breaks the items of an object into lines: as Node does. Next: inspect.js.
(function (text) {
  "use strict";

  const LINE = 80; // Node breaks an object over several lines when it would come near this

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

  text.layout = layout;
});
