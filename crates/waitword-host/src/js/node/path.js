// The part of node:path that names of scripts need. Next: builtins.js.
(function (host) {
  "use strict";

  const { apply, list } = host.safe;
  const { slice, lastIndexOf, endsWith } = String.prototype;
  const part = (text, start, end) => apply(slice, text, [start, end]);

  /** The parts between the slashes. */
  function split(path) {
    const parts = list();
    let start = 0;
    for (let at = 0; at <= path.length; at++) {
      if (at < path.length && path[at] !== "/") continue;
      parts.push(part(path, start, at));
      start = at + 1;
    }
    return parts;
  }

  function joined(parts) {
    let path = "";
    for (let at = 0; at < parts.length; at++) if (parts[at]) path += (path && "/") + parts[at];
    return path;
  }

  /** Without `.`, `..` and doubled slashes; a slash at the end stays. */
  function normalize(path) {
    const whole = reduced(checked(path));
    return path.length > 1 && path[path.length - 1] === "/" && whole !== "/" ? whole + "/" : whole;
  }

  function checked(path, name = "path") {
    if (typeof path !== "string") throw host.invalid(name, "of type string", path);
    return path;
  }

  function reduced(path) {
    const absolute = isAbsolute(path);
    const parts = list();
    const all = split(path);
    for (let at = 0; at < all.length; at++) {
      const each = all[at];
      if (each === ".." && parts.length > 0 && parts[parts.length - 1] !== "..") parts.length--;
      else if (each === ".." && !absolute) parts.push(each);
      else if (each !== "" && each !== "." && each !== "..") parts.push(each);
    }
    return (absolute ? "/" : "") + joined(parts) || (absolute ? "/" : ".");
  }

  const isAbsolute = (path) => checked(path)[0] === "/";
  const join = (...parts) => {
    let whole = "";
    for (let at = 0; at < parts.length; at++) if (checked(parts[at])) whole += (whole && "/") + parts[at];
    return normalize(whole);
  };
  const resolve = (...parts) => {
    let whole = "";
    for (let at = 0; at < parts.length; at++) {
      if (checked(parts[at])) whole = isAbsolute(parts[at]) || !whole ? parts[at] : whole + "/" + parts[at];
    }
    return reduced(isAbsolute(whole) ? whole : host.native.cwd() + "/" + whole);
  };
  const withoutSlashes = (path) => {
    let end = path.length;
    while (end > 1 && path[end - 1] === "/") end--;
    return part(path, 0, end);
  };
  const dirname = (path) => {
    const end = apply(lastIndexOf, withoutSlashes(checked(path)), ["/"]);
    return end > 0 ? part(path, 0, end) : end === 0 ? "/" : ".";
  };
  const basename = (path, suffix = "") => {
    const whole = withoutSlashes(checked(path));
    const name = part(whole, apply(lastIndexOf, whole, ["/"]) + 1);
    const isCut = suffix && name !== suffix && apply(endsWith, name, [suffix]);
    return isCut ? part(name, 0, name.length - suffix.length) : name;
  };
  const extname = (path) => {
    const name = basename(path);
    const dot = apply(lastIndexOf, name, ["."]);
    return dot > 0 ? part(name, dot) : "";
  };

  const relative = (from, to) => {
    const start = split(resolve(from));
    const end = split(resolve(to));
    let same = 0;
    while (same < start.length && same < end.length && start[same] === end[same]) same++;
    const parts = list();
    for (let at = same; at < start.length; at++) if (start[at]) parts.push("..");
    for (let at = same; at < end.length; at++) parts.push(end[at]);
    return joined(parts);
  };
  const parse = (path) => {
    const base = basename(path);
    const ext = extname(path);
    const dir = apply(lastIndexOf, withoutSlashes(path), ["/"]) < 0 ? "" : dirname(path);
    return { root: isAbsolute(path) ? "/" : "", dir, base, ext, name: part(base, 0, base.length - ext.length) };
  };
  const format = ({ root = "", dir = root, name = "", ext = "", base = name + ext }) => {
    return dir ? (dir === root ? dir + base : dir + "/" + base) : base;
  };

  host.path = {
    normalize, isAbsolute, join, resolve, relative, dirname, basename, extname, parse, format, sep: "/", delimiter: ":",
  };
  host.path.posix = host.path;
});
