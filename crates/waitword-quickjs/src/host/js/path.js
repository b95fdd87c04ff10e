// The part of node:path that names of scripts need. Next: commonjs.js.
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

  function normalize(path) {
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

  const isAbsolute = (path) => path[0] === "/";
  const join = (...parts) => normalize(joined(parts));
  const resolve = (...parts) => {
    let whole = "";
    for (let at = 0; at < parts.length; at++) {
      if (parts[at]) whole = isAbsolute(parts[at]) || !whole ? parts[at] : whole + "/" + parts[at];
    }
    return normalize(isAbsolute(whole) ? whole : host.native.cwd() + "/" + whole);
  };
  const withoutSlashes = (path) => {
    let end = path.length;
    while (end > 1 && path[end - 1] === "/") end--;
    return part(path, 0, end);
  };
  const dirname = (path) => {
    const end = apply(lastIndexOf, withoutSlashes(path), ["/"]);
    return end > 0 ? part(path, 0, end) : end === 0 ? "/" : ".";
  };
  const basename = (path, suffix = "") => {
    const whole = withoutSlashes(path);
    const name = part(whole, apply(lastIndexOf, whole, ["/"]) + 1);
    const isCut = suffix && name !== suffix && apply(endsWith, name, [suffix]);
    return isCut ? part(name, 0, name.length - suffix.length) : name;
  };
  const extname = (path) => {
    const name = basename(path);
    const dot = apply(lastIndexOf, name, ["."]);
    return dot > 0 ? part(name, dot) : "";
  };

  host.path = { normalize, isAbsolute, join, resolve, dirname, basename, extname, sep: "/" };
});
