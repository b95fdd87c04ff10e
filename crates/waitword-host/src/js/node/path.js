// The part of node:path that names of scripts need, in both forms: `posix` and `win32`. Pure functions of strings, but for `resolve` and
// `relative`, which ask for the current directory. Next: builtins.js.
(function (host) {
  "use strict";

  const { apply, list } = host.safe;
  const { slice, lastIndexOf, endsWith, toLowerCase } = String.prototype;
  const part = (text, start, end) => apply(slice, text, [start, end]);

  function checked(path, name = "path") {
    if (typeof path !== "string") throw host.invalid(name, "of type string", path);
    return path;
  }

  const posix = {
    sep: "/",
    delimiter: ":",
    isSlash: (char) => char === "/",
    /** What a path begins with: where it is counted from, whether that is its top, and how many characters that takes. */
    root: (path) => (path[0] === "/" ? { device: "", isAbsolute: true, length: 1 } : { device: "", isAbsolute: false, length: 0 }),
    isSame: (one, other) => one === other,
  };

  const isLetter = (char) => (char >= "a" && char <= "z") || (char >= "A" && char <= "Z");
  const isWindowsSlash = (char) => char === "\\" || char === "/";

  const win32 = {
    sep: "\\",
    delimiter: ";",
    isSlash: isWindowsSlash,
    /** `C:\`; `C:`, which is the current directory of that drive; `\`; `\\server\share\`; and `\\?\`, before names of any kind. */
    root: (path) => {
      const at = (index) => isWindowsSlash(path[index]);
      if (path.length > 1 && isLetter(path[0]) && path[1] === ":") {
        return { device: part(path, 0, 2), isAbsolute: at(2), length: at(2) ? 3 : 2 };
      }
      if (!at(0)) return { device: "", isAbsolute: false, length: 0 };
      const server = at(1) ? wordFrom(path, 2) : 2;
      let share = server;
      while (at(share)) share++;
      const end = wordFrom(path, share);
      if (server === 2 || share === server || end === share) return { device: "", isAbsolute: true, length: 1 };
      if (server === 3 && (path[2] === "?" || path[2] === ".")) {
        return { device: "\\\\" + path[2], isAbsolute: true, length: 4 };
      }
      const device = "\\\\" + part(path, 2, server) + "\\" + part(path, share, end);
      return { device, isAbsolute: true, length: at(end) ? end + 1 : end };
    },
    isSame: (one, other) => apply(toLowerCase, one, []) === apply(toLowerCase, other, []),
  };

  /** Where the word ends that begins here. */
  function wordFrom(path, start) {
    let end = start;
    while (end < path.length && !isWindowsSlash(path[end])) end++;
    return end;
  }

  function paths({ sep, delimiter, isSlash, root, isSame }) {
    /** The parts between the slashes, from here on. */
    function split(path, start) {
      const parts = list();
      let begin = start;
      for (let at = start; at <= path.length; at++) {
        if (at < path.length && !isSlash(path[at])) continue;
        parts.push(part(path, begin, at));
        begin = at + 1;
      }
      return parts;
    }

    function joined(parts, first) {
      let path = "";
      for (let at = first; at < parts.length; at++) if (parts[at]) path += (path && sep) + parts[at];
      return path;
    }

    /** Without `.`, `..` and doubled slashes; what is below a top, or not. */
    function reduced(all, isAbsolute) {
      const parts = list();
      for (let at = 0; at < all.length; at++) {
        const each = all[at];
        if (each === ".." && parts.length > 0 && parts[parts.length - 1] !== "..") parts.length--;
        else if (each === ".." && !isAbsolute) parts.push(each);
        else if (each !== "" && each !== "." && each !== "..") parts.push(each);
      }
      return joined(parts, 0);
    }

    /** A slash at the end stays. */
    function normalize(path) {
      const { device, isAbsolute, length } = root(checked(path));
      let tail = reduced(split(path, length), isAbsolute);
      if (tail === "" && !isAbsolute) tail = ".";
      // What remains of `a\..\C:` is not a drive.
      if (device === "" && !isAbsolute && root(tail).device) tail = "." + sep + tail;
      const isFolder = path.length > length && isSlash(path[path.length - 1]) && tail !== "";
      return device + (isAbsolute ? sep : "") + tail + (isFolder ? sep : "");
    }

    const isAbsolute = (path) => root(checked(path)).isAbsolute;

    function join(...parts) {
      let whole = "";
      let first = "";
      for (let at = 0; at < parts.length; at++) {
        if (!checked(parts[at])) continue;
        first ||= parts[at];
        whole += (whole && sep) + parts[at];
      }
      // What begins with two slashes is a server only if one of the parts says so.
      if (sep === "\\" && !(isSlash(first[0]) && isSlash(first[1]) && first.length > 2 && !isSlash(first[2]))) {
        let slashes = 0;
        while (isSlash(whole[slashes])) slashes++;
        if (slashes > 1) whole = sep + part(whole, slashes);
      }
      return normalize(whole);
    }

    /** From the last part to the first, and from there to the current directory, as long as there is no top. */
    function resolve(...parts) {
      let device = "";
      let tail = "";
      let isDone = false;
      for (let at = parts.length - 1; at >= -1 && !(isDone && (device || sep === "/")); at--) {
        const path = at >= 0 ? checked(parts[at]) : host.native.cwd();
        if (!path) continue;
        const top = root(path);
        // Of another drive nothing is known but its top.
        if (device && top.device && !isSame(device, top.device)) continue;
        device ||= top.device;
        if (isDone) continue;
        tail = part(path, top.length) + sep + tail;
        isDone = top.isAbsolute;
      }
      return device + sep + reduced(split(tail, 0), true);
    }

    /** Without slashes at its end, but for those of its root. */
    function withoutSlashes(path, { length }) {
      let end = path.length;
      while (end > length && isSlash(path[end - 1])) end--;
      return part(path, 0, end);
    }

    function lastSlash(path, from) {
      let at = path.length - 1;
      while (at >= from && !isSlash(path[at])) at--;
      return at >= from ? at : -1;
    }

    function dirname(path) {
      const top = root(checked(path));
      const whole = withoutSlashes(path, top);
      const end = lastSlash(whole, top.length);
      if (end >= 0) return part(path, 0, end);
      return top.length > 0 ? part(path, 0, top.length) : ".";
    }

    function basename(path, suffix = "") {
      const { device } = root(checked(path));
      return nameFrom(path, device.length === 2 ? 2 : 0, suffix);
    }

    function nameFrom(path, start, suffix) {
      const whole = withoutSlashes(path, { length: start });
      const name = part(whole, (lastSlash(whole, start) + 1) || start);
      const isCut = suffix && name !== suffix && apply(endsWith, name, [suffix]);
      return isCut ? part(name, 0, name.length - suffix.length) : name;
    }

    const extname = (path) => extensionOf(basename(path));
    function extensionOf(name) {
      const dot = apply(lastIndexOf, name, ["."]);
      return dot > 0 && name !== ".." ? part(name, dot) : "";
    }

    function relative(from, to) {
      const [source, target] = [resolve(checked(from, "from")), resolve(checked(to, "to"))];
      if (!isSame(root(source).device, root(target).device)) return target;
      const start = split(withoutSlashes(source, { length: 0 }), 0);
      const end = split(withoutSlashes(target, { length: 0 }), 0);
      let same = 0;
      while (same < start.length && same < end.length && isSame(start[same], end[same])) same++;
      const parts = list();
      for (let at = same; at < start.length; at++) if (start[at]) parts.push("..");
      for (let at = same; at < end.length; at++) parts.push(end[at]);
      return joined(parts, 0);
    }

    function parse(path) {
      const top = root(checked(path));
      const base = nameFrom(path, top.length, "");
      const ext = extensionOf(base);
      const whole = withoutSlashes(path, top);
      const end = lastSlash(whole, top.length);
      const dir = end >= 0 ? part(path, 0, end) : part(path, 0, top.length);
      return { root: part(path, 0, top.length), dir, base, ext, name: part(base, 0, base.length - ext.length) };
    }

    const format = ({ root: top = "", dir = top, name = "", ext = "", base = name + ext }) => {
      return dir ? (dir === top ? dir + base : dir + sep + base) : base;
    };

    return { normalize, isAbsolute, join, resolve, relative, dirname, basename, extname, parse, format, sep, delimiter };
  }

  const both = { posix: paths(posix), win32: paths(win32) };
  both.posix.posix = both.win32.posix = both.posix;
  both.posix.win32 = both.win32.win32 = both.win32;
  host.isWindows = host.options.platform === "win32";
  host.path = host.isWindows ? both.win32 : both.posix;
  /** Whether a name is that of a file: absolute, or relative to somewhere. As in Node, a backslash will do everywhere. */
  host.isFileName = (name) => {
    const isAfter = (dots) => name[dots] === "/" || name[dots] === "\\";
    return host.path.isAbsolute(name) || (name[0] === "." && (isAfter(1) || (name[1] === "." && isAfter(2))));
  };
});
