// The part of node:path that names of scripts need. Next: commonjs.js.
(function (host) {
  "use strict";

  function normalize(path) {
    const absolute = path.startsWith("/");
    const parts = [];
    for (const part of path.split("/")) {
      if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
      else if (part === ".." && !absolute) parts.push(part);
      else if (part !== "" && part !== "." && part !== "..") parts.push(part);
    }
    return (absolute ? "/" : "") + parts.join("/") || (absolute ? "/" : ".");
  }

  const isAbsolute = (path) => path.startsWith("/");
  const join = (...parts) => normalize(parts.filter(Boolean).join("/"));
  const resolve = (...parts) => {
    const whole = parts.filter(Boolean).reduce((base, part) => (isAbsolute(part) ? part : `${base}/${part}`), "");
    return normalize(isAbsolute(whole) ? whole : `${host.native.cwd()}/${whole}`);
  };
  const dirname = (path) => {
    const end = path.replace(/(?<!^)\/+$/, "").lastIndexOf("/");
    return end > 0 ? path.slice(0, end) : end === 0 ? "/" : ".";
  };
  const basename = (path, suffix = "") => {
    const name = path.replace(/\/+$/, "").split("/").at(-1);
    return suffix && name !== suffix && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
  };
  const extname = (path) => /[^/.](\.[^/.]*)$/.exec(path)?.[1] ?? "";

  host.path = { normalize, isAbsolute, join, resolve, dirname, basename, extname, sep: "/" };
});
