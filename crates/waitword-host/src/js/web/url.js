// The part of URL that names of files need: `new URL("./worker.js", import.meta.url)`. A part that
// runs when it is first asked for.
(function (host) {
  "use strict";

  const { String, TypeError, decodeURIComponent } = host.safe;

  class URL {
    // Declared, for an assignment to what an object does not have yet may end in a setter of its prototype.
    protocol;
    host;
    pathname;
    search;
    hash;

    constructor(reference, base) {
      const name = String(reference);
      const parts = host.text().parseUrl(name, base === undefined ? undefined : new URL(base));
      if (!parts) throw host.put(host.error(TypeError, "ERR_INVALID_URL", "Invalid URL"), "input", name);
      this.protocol = parts.protocol;
      this.host = parts.host;
      this.pathname = parts.pathname;
      this.search = parts.search;
      this.hash = parts.hash;
    }

    get href() {
      const authority = this.protocol === "file:" || this.host ? "//" + this.host : "";
      return this.protocol + authority + this.pathname + this.search + this.hash;
    }

    get hostname() {
      return host.text().authority(this.host)[0];
    }

    get port() {
      return host.text().authority(this.host)[1];
    }

    get origin() {
      return this.protocol === "http:" || this.protocol === "https:" ? this.protocol + "//" + this.host : "null";
    }

    get searchParams() {
      return new (host.part("search_params").URLSearchParams)(this.search);
    }

    toString() {
      return this.href;
    }

    toJSON() {
      return this.href;
    }

    static createObjectURL(blob) {
      return host.part("web_worker").createObjectURL(blob);
    }

    static revokeObjectURL(url) {
      if (arguments.length === 0) throw host.missing("url");
      host.part("web_worker").revokeObjectURL(url);
    }

    static canParse(reference, base) {
      try {
        new URL(reference, base);
        return true;
      } catch {
        return false;
      }
    }
  }

  function fileURLToPath(url) {
    const { protocol, pathname } = typeof url === "string" ? new URL(url) : url;
    if (protocol !== "file:") {
      throw host.error(TypeError, "ERR_INVALID_URL_SCHEME", "The URL must be of scheme file");
    }
    return decodeURIComponent(pathname);
  }

  function pathToFileURL(path) {
    const absolute = path[0] === "/" ? path : host.native.cwd() + "/" + path;
    return new URL("file://" + host.text().urlPath(absolute));
  }

  return { URL, fileURLToPath, pathToFileURL };
});
