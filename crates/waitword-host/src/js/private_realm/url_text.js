// The parsing of URLs, on texts alone, in the private realm. What scripts get of it is url.js.
(function (text) {
  "use strict";

  /** The parts of a URL; undefined if a base is needed and missing. `base`: the parts of one. */
  function parseUrl(reference, base) {
    const own = split(reference.trim());
    if (own.protocol) return HIERARCHICAL.includes(own.protocol) ? { ...own, pathname: clean(own.pathname) } : own;
    if (!base) return undefined;
    const { protocol, host } = base;
    if (own.host) return { ...own, protocol, pathname: clean(own.pathname) };
    if (!own.pathname) return { ...own, protocol, host, pathname: base.pathname, search: own.search || base.search };
    const folder = base.pathname.slice(0, base.pathname.lastIndexOf("/") + 1);
    const path = own.pathname.startsWith("/") ? own.pathname : folder + own.pathname;
    return { ...own, protocol, host, pathname: clean(path) };
  }

  const HIERARCHICAL = ["file:", "http:", "https:", "ws:", "wss:"];

  function split(reference) {
    const [, protocol, , host, pathname, search, hash] =
      /^([a-zA-Z][a-zA-Z\d+.-]*:)?(\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(reference.replace(/[\t\n\r]/g, ""));
    const scheme = protocol?.toLowerCase();
    const isOpaque = scheme && host === undefined && pathname[0] !== "/";
    return {
      protocol: scheme,
      host: host ?? "",
      pathname: isOpaque ? escapeOpaque(pathname) : escape(pathname),
      search: search ?? "",
      hash: hash ?? "",
    };
  }

  function clean(path) {
    const parts = [];
    const all = path.split("/").slice(1);
    all.forEach((part, at) => {
      const isLast = at === all.length - 1;
      if (part === "..") parts.pop();
      else if (part !== ".") parts.push(part);
      if (isLast && (part === "." || part === "..")) parts.push("");
    });
    return `/${parts.join("/")}`;
  }

  // A path without a hierarchy is a text of its scheme's, spaces and all.
  const escapeOpaque = (path) => path.toWellFormed().replace(/[\0-\x1f\x7f-\u{10ffff}]/gu, encodeURIComponent);
  const escape = (path) => encodeURI(path.toWellFormed()).replaceAll("%25", "%").replace(/[?#]/g, encodeURIComponent);

  /** The path of the URL of a file whose absolute path is given. */
  const urlPath = (path) => clean(encodeURI(path.toWellFormed()).replace(/[?#]/g, encodeURIComponent));

  /** Type, encoding and contents of a `data:` URL; undefined if it is none. A URL need not name its type. */
  function parseDataUrl(url) {
    const [, type, settings, body] = /^data:([^,;]*)([^,]*),([^#]*)/i.exec(url.replace(/[\t\n\r]/g, "")) ?? [];
    if (body === undefined) return undefined;
    const known = /^\s*([^/\s]+\/[^/\s]+)\s*$/.exec(type)?.[1].toLowerCase();
    return { type: known, isBase64: /; *base64 *$/i.test(settings), body };
  }

  /** The name and the port in what stands between `//` and the path. */
  function authority(host) {
    const [, name, port] = /^(?:.*@)?(.*?)(?::(\d*))?$/s.exec(host);
    return [name, port ?? ""];
  }

  Object.assign(text, { parseUrl, parseDataUrl, urlPath, authority });
});
