// The parsing of `data:` URLs, on texts alone, in the private realm. What scripts get of it is data_url.js.
(function (text) {
  "use strict";

  /** Type, encoding and contents of a `data:` URL; undefined if it is none. A URL need not name its type. */
  function parseDataUrl(url) {
    const [, type, settings, body] = /^data:([^,;]*)([^,]*),([^#]*)/i.exec(url.replace(/[\t\n\r]/g, "")) ?? [];
    if (body === undefined) return undefined;
    const known = /^\s*([^/\s]+\/[^/\s]+)\s*$/.exec(type)?.[1].toLowerCase();
    return { type: known, isBase64: /; *base64 *$/i.test(settings), body };
  }

  Object.assign(text, { parseDataUrl });
});
