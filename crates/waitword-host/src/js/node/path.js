// node:path, for the system on which this program runs. Pure functions of strings, except for `resolve` and `relative`, which read the current
// directory. Next: modules.js.
(function (host) {
  "use strict";

  const { apply, list } = host.safe;
  const { slice, lastIndexOf, endsWith } = String.prototype;
  const { exec } = RegExp.prototype;
  const part = (text, start, end) => apply(slice, text, [start, end]);

  function checked(path, name = "path") {
    if (typeof path !== "string") throw host.invalid(name, "of type string", path);
    return path;
  }

  // `start` parses the beginning of a path: a device, and the slash of its root.
  const POSIX = { sep: "/", delimiter: ":", start: /^()(\/?)/ };
  // `C:\`, `\\server\share`, and `\\?\C:\`, which looks like a share.
  const WINDOWS = { sep: "\\", delimiter: ";", start: /^([a-z]:(?=[\\/])|[\\/]{2}[^\\/]+[\\/]+[^\\/]+)?([\\/]?)/i };

  function paths({ sep, delimiter, start }) {
    const isSlash = (char) => char === "/" || char === sep;

    /** The base of a path, whether that is a root, and its length in characters. */
    function root(path) {
      const found = apply(exec, start, [path]);
      const device = found[1] ?? "";
      return { device, isAbsolute: found[2] !== "" || device !== "", length: found[0].length };
    }

    /** The names between slashes, from a position on. */
    function split(path, from) {
      const names = list();
      let begin = from;
      for (let at = from; at <= path.length; at++) {
        if (at < path.length && !isSlash(path[at])) continue;
        if (at > begin) names.push(part(path, begin, at));
        begin = at + 1;
      }
      return names;
    }

    function joined(names) {
      let path = "";
      for (let at = 0; at < names.length; at++) path += (path && sep) + names[at];
      return path;
    }

    /** Removes `.`, `..` and doubled slashes. */
    function reduced(path) {
      const { device, isAbsolute, length } = root(path);
      const all = split(path, length);
      const names = list();
      for (let at = 0; at < all.length; at++) {
        const name = all[at];
        if (name === ".") continue;
        if (name !== "..") names.push(name);
        else if (names.length > 0 && names[names.length - 1] !== "..") names.length--;
        else if (!isAbsolute) names.push(name);
      }
      return device + (isAbsolute ? sep : "") + joined(names);
    }

    /** A trailing slash is kept. */
    function normalize(path) {
      const short = reduced(checked(path)) || ".";
      const isFolder = isSlash(path[path.length - 1]) && !isSlash(short[short.length - 1]);
      return isFolder ? short + sep : short;
    }

    const isAbsolute = (path) => root(checked(path)).isAbsolute;

    function join(...parts) {
      let whole = "";
      for (let at = 0; at < parts.length; at++) if (checked(parts[at])) whole += (whole && sep) + parts[at];
      return normalize(whole);
    }

    /** Goes from the last part to the first, and then to the current directory, until it has a root and that root's device. */
    function resolve(...parts) {
      let whole = "";
      for (let at = parts.length - 1; at >= -1; at--) {
        const { device, isAbsolute } = root(whole);
        if (isAbsolute && (device || sep === "/")) break;
        const path = at >= 0 ? checked(parts[at]) : host.native.cwd();
        if (isAbsolute) whole = root(path).device + whole;
        else if (path) whole = path + (whole && sep) + whole;
      }
      return reduced(whole);
    }

    /** Removes trailing slashes, except those of the root. */
    function withoutSlashes(path, length) {
      let end = path.length;
      while (end > length && isSlash(path[end - 1])) end--;
      return part(path, 0, end);
    }

    function lastSlash(path, from) {
      let at = path.length - 1;
      while (at >= from && !isSlash(path[at])) at--;
      return at >= from ? at : -1;
    }

    /** The folder of a path; of a name without one, its root. */
    function folder(path, length) {
      const whole = withoutSlashes(path, length);
      const end = lastSlash(whole, length);
      return part(path, 0, end >= 0 ? end : length);
    }

    const dirname = (path) => folder(path, root(checked(path)).length) || ".";

    function nameFrom(path, start, suffix) {
      const whole = withoutSlashes(path, start);
      const name = part(whole, (lastSlash(whole, start) + 1) || start);
      const isCut = suffix && name !== suffix && apply(endsWith, name, [suffix]);
      return isCut ? part(name, 0, name.length - suffix.length) : name;
    }

    const basename = (path, suffix = "") => nameFrom(path, root(checked(path)).device.length, suffix);

    function extensionOf(name) {
      const dot = apply(lastIndexOf, name, ["."]);
      return dot > 0 && name !== ".." ? part(name, dot) : "";
    }

    const extname = (path) => extensionOf(basename(path));

    function relative(from, to) {
      const source = resolve(checked(from, "from"));
      const target = resolve(checked(to, "to"));
      const top = root(source);
      if (root(target).device !== top.device) return target;
      const start = split(source, top.length);
      const end = split(target, top.length);
      let same = 0;
      while (same < start.length && same < end.length && start[same] === end[same]) same++;
      const names = list();
      for (let at = same; at < start.length; at++) names.push("..");
      for (let at = same; at < end.length; at++) names.push(end[at]);
      return joined(names);
    }

    function parse(path) {
      const { length } = root(checked(path));
      const base = nameFrom(path, length, "");
      const ext = extensionOf(base);
      return { root: part(path, 0, length), dir: folder(path, length), base, ext, name: part(base, 0, base.length - ext.length) };
    }

    const format = (parts) => {
      if (typeof parts !== "object" || parts === null) throw host.invalid("pathObject", "of type object", parts);
      const { root: top = "", dir = top, name = "", ext = "", base = name + ext } = parts;
      return dir ? (dir === top ? dir + base : dir + sep + base) : base;
    };

    return { normalize, isAbsolute, join, resolve, relative, dirname, basename, extname, parse, format, sep, delimiter };
  }

  const posix = paths(POSIX);
  posix.posix = posix;
  host.isWindows = host.options.platform === "win32";
  host.path = host.isWindows ? { ...paths(WINDOWS), posix } : posix;
  /** Whether a name is that of a file: absolute, or beginning with `.`. As in Node, a backslash works on all systems. */
  host.isFileName = (name) => {
    const isAfter = (dots) => name[dots] === "/" || name[dots] === "\\";
    return host.path.isAbsolute(name) || (name[0] === "." && (isAfter(1) || (name[1] === "." && isAfter(2))));
  };
});
