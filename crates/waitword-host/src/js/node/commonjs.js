// require, for scripts and for what they require. Finding and reading files is module_loader.rs. Next: boot.js.
(function (host) {
  "use strict";

  const { native } = host;
  const { apply, Map } = host.safe;
  const { endsWith } = String.prototype;
  const parse = JSON.parse;
  const loaded = new Map();
  let main;

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
