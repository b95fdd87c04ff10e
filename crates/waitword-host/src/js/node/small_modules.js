// What programs with workers use of node:os and node:module, and `navigator`, of which pages ask how many workers are worth while. A part
// that runs when it is first asked for.
(function (host) {
  "use strict";

  const { apply, startsWith, String, TypeError } = host.safe;
  const { native } = host;

  const processor = { model: "unknown", speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } };
  const os = {
    availableParallelism: () => native.parallelism(),
    cpus: () => {
      const all = [];
      for (let at = native.parallelism(); at > 0; at--) host.append(all, { ...processor, times: { ...processor.times } });
      return all;
    },
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

  class Navigator {
    get hardwareConcurrency() {
      return native.parallelism();
    }
  }

  return { module: { builtinModules: host.builtinNames, createRequire }, navigator: new Navigator(), os };
});
