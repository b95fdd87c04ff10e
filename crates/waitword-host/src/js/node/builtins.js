// The built-in modules, by name: what `require` and `import` find without a file. Next: commonjs.js.
(function (host) {
  "use strict";

  const { Error } = globalThis;
  const { hasOwn, keys } = Object;
  const { apply } = host.safe;
  const { startsWith, slice } = String.prototype;
  const begins = (name, start) => apply(startsWith, name, [start]);

  const builtins = {
    assert: () => host.part("assert"),
    "assert/strict": () => host.part("assert").strict,
    console: () => host.console,
    events: () => host.EventEmitter,
    module: () => host.part("small_modules").module,
    os: () => host.part("small_modules").os,
    path: () => host.path,
    "path/posix": () => host.path.posix,
    perf_hooks: () => perfHooks,
    process: () => host.part("process").process,
    timers: () => host.timers,
    "timers/promises": () => host.part("timers_promises"),
    url: () => url,
    util: () => host.part("util"),
    "util/types": () => host.part("util").types,
    worker_threads: () => host.workerThreads,
  };
  const perfHooks = { performance };
  const url = {
    get URL() {
      return host.part("url").URL;
    },
    get fileURLToPath() {
      return host.part("url").fileURLToPath;
    },
    get pathToFileURL() {
      return host.part("url").pathToFileURL;
    },
  };
  const made = { __proto__: null };

  /** The built-in module of this name; undefined for names of files; throws for names that are neither, `by` whom they are meant. */
  host.builtin = (name, code, by) => {
    const bare = begins(name, "node:") ? apply(slice, name, [5]) : name;
    if (hasOwn(builtins, bare)) return (made[bare] ??= builtins[bare]());
    if (host.isFileName(name) || begins(name, "file:")) return undefined;
    if (name === "." || name === "..") return undefined;
    throw unknown(name, begins(name, "node:") ? "ERR_UNKNOWN_BUILTIN_MODULE" : code, by);
  };
  /** For `import`, which names files by URLs as well. */
  host.fileURLToPath = (url) => host.part("url").fileURLToPath(url);
  /** For `import`, and for workers, of a `data:` URL. */
  host.dataModule = (url, isEntry) => host.part("data_url").module(url, isEntry);
  host.unresolvable = (name, url) => host.part("data_url").unresolvable(name, url);
  host.builtinNames = keys(builtins);

  function unknown(name, code, by) {
    let known = "";
    for (let at = 0; at < host.builtinNames.length; at++) known += (at > 0 ? ", node:" : "node:") + host.builtinNames[at];
    return host.error(Error, code,
      "No module named '" + name + "'" + by + ". Built in are " + known + "; files are named by ./, ../ or /");
  }
});
