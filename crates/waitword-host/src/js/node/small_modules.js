// Modules of Node of which programs with workers use a function or two. A part that runs when it is first asked for.
(function (host) {
  "use strict";

  const { apply, startsWith, String, TypeError } = host.safe;
  const { native, options } = host;

  /** There is one context for all: what is asynchronous here carries nothing along. */
  let asyncIds = 1;

  class AsyncResource {
    #id = ++asyncIds;

    constructor(type) {
      if (typeof type !== "string") throw host.invalid("type", "of type string", type);
    }

    runInAsyncScope(call, self, ...args) {
      return apply(call, self, args);
    }

    emitDestroy() {
      return this;
    }

    asyncId() {
      return this.#id;
    }

    triggerAsyncId() {
      return 0;
    }

    bind(call, self) {
      return (...args) => apply(call, self, args);
    }
  }

  const processor = { model: "unknown", speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } };
  const os = {
    EOL: host.isWindows ? "\r\n" : "\n",
    arch: () => options.arch,
    availableParallelism: () => native.parallelism(),
    cpus: () => {
      const all = [];
      for (let at = native.parallelism(); at > 0; at--) host.append(all, { ...processor, times: { ...processor.times } });
      return all;
    },
    platform: () => options.platform,
    type: () => ({ linux: "Linux", darwin: "Darwin", win32: "Windows_NT" })[options.platform] ?? options.platform,
  };

  function createRequire(file) {
    const name = file instanceof host.part("url").URL || apply(startsWith, String(file), ["file:"])
      ? host.part("url").fileURLToPath(file)
      : file;
    if (typeof name !== "string" || !host.path.isAbsolute(name)) {
      throw host.error(TypeError, "ERR_INVALID_ARG_VALUE",
        "The argument 'filename' must be a file URL object, file URL string, or absolute path string. Received " + host.inspect(file));
    }
    return host.requireFrom(name);
  }

  const module = {
    builtinModules: host.builtinNames,
    createRequire,
    isBuiltin: (name) => host.isBuiltin(String(name)),
  };
  return { async_hooks: { AsyncResource }, module, os };
});
