// URL. Rust parses (natives/texts.rs); this is the scripts' interface. Loaded at first use.
(function (host) {
  "use strict";

  const { TypeError, apply, decodeURIComponent, defineProperty, endsWith, indexOf, slice } = host.safe;
  const { native, usv } = host;
  const { custom } = host.inspect;

  // The parts, in the order in which Rust returns them.
  const PARTS = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];
  const HREF = 0;
  const ORIGIN = 1;

  function invalid(input, base) {
    const error = host.put(host.error(TypeError, "ERR_INVALID_URL", "Invalid URL"), "input", input);
    return base === undefined ? error : host.put(error, "base", base);
  }

  class URL {
    #parts;

    constructor(url, base = undefined) {
      if (arguments.length === 0) throw host.missing("url");
      const input = usv(url);
      const root = base === undefined ? undefined : usv(base);
      this.#parts = native.parseUrl(input, root);
      if (this.#parts === undefined) throw invalid(input, root);
    }

    get href() {
      return this.#parts[HREF];
    }

    set href(value) {
      const input = usv(value);
      const parts = native.parseUrl(input);
      if (parts === undefined) throw invalid(input);
      this.#parts = parts;
    }

    toString() {
      return this.#parts[HREF];
    }

    toJSON() {
      return this.#parts[HREF];
    }

    static part(url, at) {
      return url.#parts[at];
    }

    static setPart(url, name, value) {
      url.#parts = native.setUrl(url.#parts[HREF], name, value);
    }

    static parse(url, base = undefined) {
      if (arguments.length === 0) throw host.missing("url");
      const root = base === undefined ? undefined : usv(base);
      return native.parseUrl(usv(url), root) === undefined ? null : new URL(url, base);
    }

    static canParse(url, base = undefined) {
      if (arguments.length === 0) throw host.missing("url");
      const root = base === undefined ? undefined : usv(base);
      return native.parseUrl(usv(url), root) !== undefined;
    }

    static createObjectURL(blob) {
      if (arguments.length === 0) throw host.missing("obj");
      return host.part("web_worker").createObjectURL(blob);
    }

    static revokeObjectURL(url) {
      if (arguments.length === 0) throw host.missing("url");
      host.part("web_worker").revokeObjectURL(url);
    }
  }

  const { part, setPart } = URL;
  delete URL.part;
  delete URL.setPart;
  for (let at = 1; at < PARTS.length; at++) {
    const name = PARTS[at];
    const get = function () {
      return part(this, at);
    };
    const set = function (value) {
      setPart(this, name, usv(value));
    };
    defineProperty(URL.prototype, name, { __proto__: null, get, set: at === ORIGIN ? undefined : set, enumerable: true, configurable: true });
  }
  host.shape(URL);
  defineProperty(URL.prototype, custom, {
    __proto__: null,
    value(depth) {
      if (depth < 0) return this;
      const shown = { __proto__: { __proto__: null, constructor: URL } };
      for (let at = 0; at < PARTS.length; at++) host.put(shown, PARTS[at], part(this, at));
      return shown;
    },
    writable: true, enumerable: false, configurable: true,
  });

  function fileURLToPath(path) {
    const url = typeof path === "string" ? new URL(path) : path;
    if (!isUrl(url)) throw host.invalid("path", "of type string or an instance of URL", path);
    if (url.protocol !== "file:") {
      throw host.error(TypeError, "ERR_INVALID_URL_SCHEME", "The URL must be of scheme file");
    }
    const { isWindows } = host;
    if (url.hostname !== "" && !isWindows) {
      throw host.error(TypeError, "ERR_INVALID_FILE_URL_HOST",
        'File URL host must be "localhost" or empty on ' + host.options.platform);
    }
    const { pathname } = url;
    const has = (text) => apply(indexOf, pathname, [text]) >= 0;
    const refused = (why) => host.error(TypeError, "ERR_INVALID_FILE_URL_PATH", "File URL path must " + why);
    if (has("%2f") || has("%2F") || (isWindows && (has("%5c") || has("%5C")))) {
      throw refused(isWindows ? "not include encoded \\ or / characters" : "not include encoded / characters");
    }
    const decoded = decodeURIComponent(pathname);
    if (!isWindows) return decoded;
    if (url.hostname !== "") {
      // Not normalized, because that would append a backslash to a share without one.
      let share = "\\\\" + url.hostname;
      for (let at = 0; at < decoded.length; at++) share += decoded[at] === "/" ? "\\" : decoded[at];
      return share;
    }
    // "/C:/folder/file"
    const file = host.path.normalize(apply(slice, decoded, [1]));
    if (file[1] !== ":" || !host.path.isAbsolute(file)) throw refused("be absolute");
    return file;
  }

  /** As in Node, any object with the needed properties. */
  const isUrl = (url) => typeof url === "object" && url !== null && !!url.href && !!url.protocol && url.auth === undefined && url.path === undefined;

  function pathToFileURL(path) {
    if (typeof path !== "string") throw host.invalid("path", "of type string", path);
    const { resolve, sep } = host.path;
    const resolved = resolve(path);
    const ends = (text) => apply(endsWith, text, [sep]) || apply(endsWith, text, ["/"]);
    return new URL(native.fileUrl(ends(path) && !ends(resolved) ? resolved + sep : resolved));
  }

  return { URL, fileURLToPath, pathToFileURL };
});
