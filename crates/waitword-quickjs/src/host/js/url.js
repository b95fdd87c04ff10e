// The part of URL that names of files need: `new URL("./worker.js", import.meta.url)`. Next: worker_threads.js.
(function (host) {
  "use strict";

  class URL {
    constructor(reference, base) {
      const text = String(reference).trim();
      const own = split(text);
      if (own.protocol) Object.assign(this, own.protocol === "file:" ? { ...own, pathname: clean(own.pathname) } : own);
      else if (base === undefined) throw invalid(text);
      else Object.assign(this, against(own, new URL(base)));
    }

    get href() {
      const authority = this.protocol === "file:" || this.host ? `//${this.host}` : "";
      return `${this.protocol}${authority}${this.pathname}${this.search}${this.hash}`;
    }

    toString() {
      return this.href;
    }

    toJSON() {
      return this.href;
    }

    static canParse(reference, base) {
      try {
        return Boolean(new URL(reference, base));
      } catch {
        return false;
      }
    }
  }

  function split(text) {
    const [, protocol, , host, pathname, search, hash] =
      /^([a-zA-Z][a-zA-Z\d+.-]*:)?(\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(text);
    return {
      protocol: protocol?.toLowerCase(),
      host: host ?? "",
      pathname: escape(pathname),
      search: search ?? "",
      hash: hash ?? "",
    };
  }

  function against(own, base) {
    const { protocol, host } = base;
    if (own.host) return { ...own, protocol, pathname: clean(own.pathname) };
    if (!own.pathname) return { ...own, protocol, host, pathname: base.pathname, search: own.search || base.search };
    const folder = base.pathname.slice(0, base.pathname.lastIndexOf("/") + 1);
    const path = own.pathname.startsWith("/") ? own.pathname : folder + own.pathname;
    return { ...own, protocol, host, pathname: clean(path) };
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

  const escape = (path) => encodeURI(path).replaceAll("%25", "%").replace(/[?#]/g, encodeURIComponent);

  function invalid(text) {
    return Object.assign(host.error(TypeError, "ERR_INVALID_URL", "Invalid URL"), { input: text });
  }

  function fileURLToPath(url) {
    const { protocol, pathname } = typeof url === "string" ? new URL(url) : url;
    if (protocol !== "file:") {
      throw host.error(TypeError, "ERR_INVALID_URL_SCHEME", "The URL must be of scheme file");
    }
    return decodeURIComponent(pathname);
  }

  function pathToFileURL(path) {
    const absolute = path.startsWith("/") ? path : `${host.native.cwd()}/${path}`;
    return new URL(`file://${clean(encodeURI(absolute).replace(/[?#]/g, encodeURIComponent))}`);
  }

  Object.assign(host, { URL, fileURLToPath, pathToFileURL });
});
