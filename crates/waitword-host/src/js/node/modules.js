// The built-in modules, by name: what `require` and `import` find without a file. Also `require`, for scripts and for the scripts that they
// require. module_loader.rs finds and reads files. Next: message_port.js.
(function (host) {
  "use strict";

  const { native } = host;
  const { apply, Error, endsWith, keys, Map, parseJson: parse, slice, startsWith, TypeError } = host.safe;
  const { hasOwn } = Object;
  const loaded = new Map();
  let main;
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
    "timers/promises": () => host.part("promises").timers,
    url: () => url,
    util: () => host.part("small_modules").util,
    "util/types": () => host.part("small_modules").util.types,
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

  /** The built-in module with this name; undefined for names of files. Throws for other names; `by` names the importer. */
  host.builtin = (name, code, by) => {
    const bare = begins(name, "node:") ? apply(slice, name, [5]) : name;
    if (hasOwn(builtins, bare)) return (made[bare] ??= builtins[bare]());
    if (host.isFileName(name) || begins(name, "file:")) return undefined;
    if (name === "." || name === "..") return undefined;
    throw unknown(name, begins(name, "node:") ? "ERR_UNKNOWN_BUILTIN_MODULE" : code, by);
  };
  /** For `import`, which also accepts URLs of files. */
  host.fileURLToPath = (url) => host.part("url").fileURLToPath(url);
  /** For `data:` URLs, in `import` and as scripts of workers. */
  host.dataModule = (url, isEntry) => host.part("encoding").dataModule(url, isEntry);
  /** The error of an `import` of a relative name in such a module. */
  host.unresolvable = (name, url) => host.error(TypeError, "ERR_UNSUPPORTED_RESOLVE_REQUEST",
    'Failed to resolve module specifier "' + name + '" from "' + url + '": Invalid relative URL or base scheme is not hierarchical.');
  host.builtinNames = keys(builtins);

  function unknown(name, code, by) {
    let known = "";
    for (let at = 0; at < host.builtinNames.length; at++) known += (at > 0 ? ", node:" : "node:") + host.builtinNames[at];
    return host.error(Error, code,
      "No module named '" + name + "'" + by + ". Built in are " + known + "; files are named by ./, ../ or /");
  }

  class Module {
    exports = {};
    loaded = false;
    id;
    filename;
    path;
    require;

    constructor(filename) {
      this.id = this.filename = filename;
      this.path = host.path.dirname(filename);
      this.require = requireFrom(filename);
    }
  }

  function requireFrom(filename) {
    const by = ", required by " + filename;
    const require = (name) => {
      if (typeof name !== "string") {
        throw host.invalid("id", "of type string", name);
      }
      return host.builtin(name, "MODULE_NOT_FOUND", by) ?? load(native.resolve(name, filename));
    };
    host.put(require, "main", main);
    host.put(require, "resolve", (name) => (host.builtin(name, "MODULE_NOT_FOUND", by) ? name : native.resolve(name, filename)));
    return require;
  }

  function load(filename) {
    const known = loaded.get(filename);
    if (known) return known.exports;
    const module = new Module(filename);
    loaded.set(filename, module);
    try {
      if (apply(endsWith, filename, [".json"])) module.exports = parseJson(filename);
      else run(module, native.compileFile(filename));
    } catch (error) {
      loaded.delete(filename);
      throw error;
    }
    module.loaded = true;
    return module.exports;
  }

  function run(module, compiled) {
    const { exports, require, filename, path } = module;
    apply(compiled, exports, [exports, require, module, filename, path]);
  }

  function parseJson(filename) {
    try {
      return parse(native.readFile(filename));
    } catch (error) {
      error.message = filename + ": " + error.message;
      throw error;
    }
  }

  host.requireFrom = requireFrom;
  host.requireFile = load;
  host.parseJson = parseJson;
  host.runScript = (filename, compiled) => {
    main = new Module(filename);
    main.id = ".";
    main.require.main = main;
    loaded.set(filename, main);
    run(main, compiled);
    main.loaded = true;
  };
});
