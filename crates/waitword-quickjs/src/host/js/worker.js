// The Worker of node:worker_threads, and what agents with workers have besides. The threads themselves are made in worker.rs. A part
// that runs when it is first asked for.
(function (host) {
  "use strict";

  const { native } = host;
  const { apply, Error, freeze, isArray, list, Map, Promise, startsWith, String, TypeError } = host.safe;
  const workers = new Map();
  const MEBIBYTE = 2 ** 20;
  const OUT_OF_MEMORY = "Worker terminated due to reaching memory limit: JS heap out of memory";

  class Worker extends host.EventEmitter {
    #id;
    #exit;
    #streams;
    #limits;

    constructor(file, settings) {
      super();
      const { eval: isSource = false, argv, workerData, transferList, env, resourceLimits } = settings ?? {};
      checkSettings(settings ?? {});
      if (isSource && typeof file !== "string") {
        throw host.error(TypeError, "ERR_INVALID_ARG_VALUE",
          "The property 'options.eval' must be false when 'filename' is not a string. Received true");
      }
      const source = isSource ? { isSource: true, text: String(file) } : script(file);
      const words = list();
      for (let at = 0; at < (argv?.length ?? 0); at++) words.push(String(argv[at]));
      const variables = host.variables(env);
      this.#limits = limits(resourceLimits);
      this.#streams = openStreams(settings);
      const memory = this.#limits.maxOldGenerationSizeMb * MEBIBYTE;
      // Last, for what is packed is what is sent next: no script may run in between.
      const ids = birth(workerData, transferList, this.#streams, resourceLimits && this.#limits);
      this.#id = startWorker(this, source.isSource, source.text, words, variables, ids, memory);
      this.#exit = new Promise((resolve) => this.once("exit", resolve));
    }

    get threadId() {
      return workers.has(this.#id) ? this.#id : -1;
    }

    get resourceLimits() {
      return workers.has(this.#id) ? this.#limits : {};
    }

    get stdin() {
      return null;
    }

    get stdout() {
      return stream(this.#streams?.stdout, "stdout");
    }

    get stderr() {
      return stream(this.#streams?.stderr, "stderr");
    }

    postMessage(value, transfer) {
      if (arguments.length === 0) throw host.missing("message");
      postToWorker(this.#id, value, transfer);
    }

    terminate() {
      return terminateWorker(this.#id) ? this.#exit : new Promise((resolve) => resolve());
    }

    ref() {
      native.refWorker(this.#id, true);
      return this;
    }

    unref() {
      native.refWorker(this.#id, false);
      return this;
    }

    getHeapSnapshot() {
      throw host.unavailable("worker.getHeapSnapshot()");
    }

    [host.ended]() {
      if (!this.#streams) return;
      const { finish } = host.part("readable");
      if (this.#streams.stdout) finish(this.#streams.stdout);
      if (this.#streams.stderr) finish(this.#streams.stderr);
    }
  }

  function checkSettings({ argv, env, execArgv, resourceLimits, stdin }) {
    if (argv !== undefined && argv !== null && !isArray(argv)) throw host.invalid("options.argv", "an instance of Array", argv);
    if (env === host.workerThreads.SHARE_ENV) throw host.unavailable("SHARE_ENV (a worker has a copy of the environment: { env: process.env })");
    if (env !== undefined && env !== null && typeof env !== "object") {
      throw host.invalid("options.env", "of type object or one of undefined, null, or worker_threads.SHARE_ENV", env);
    }
    if (isArray(execArgv) && execArgv.length > 0) {
      const flag = String(execArgv[0]);
      throw host.error(Error, "ERR_WORKER_INVALID_EXEC_ARGV", "Initiated Worker with invalid execArgv flags: " + flag + " (no flags are known here)");
    }
    if (stdin) throw host.unavailable("The option stdin of Worker (post messages instead)");
    if (resourceLimits !== undefined && (typeof resourceLimits !== "object" || resourceLimits === null)) {
      throw host.invalid("options.resourceLimits", "of type object", resourceLimits);
    }
  }

  /** The limits that a worker has. Only that of the old generation means anything here: it is that of the worker's memory. */
  function limits(wanted) {
    if (wanted === undefined) return freeze({});
    const { maxYoungGenerationSizeMb = 0, maxOldGenerationSizeMb = 0, codeRangeSizeMb = 0, stackSizeMb = 4 } = wanted;
    return { maxYoungGenerationSizeMb, maxOldGenerationSizeMb, codeRangeSizeMb, stackSizeMb };
  }

  /** What the worker prints, and where that comes out: pairs of ports. */
  function openStreams(settings) {
    if (!settings?.stdout && !settings?.stderr) return undefined;
    const { Readable } = host.part("readable");
    const open = () => {
      const { port1, port2 } = new host.MessageChannel();
      return { readable: new Readable(port1), port: port2 };
    };
    const out = settings.stdout && open();
    const err = settings.stderr && open();
    return { stdout: out?.readable, stderr: err?.readable, ports: [out?.port, err?.port] };
  }

  function stream(readable, name) {
    if (readable) return readable;
    throw host.error(Error, "ERR_METHOD_NOT_IMPLEMENTED", "worker." + name + " needs the option { " + name + ": true } of Worker");
  }

  /** Packs what a worker begins with: `workerData`, and what else its parent has for it. */
  function birth(workerData, transferList, streams, resourceLimits) {
    const transfer = list();
    const moved = transferList ? host.transferList(transferList) : transfer;
    for (let at = 0; at < moved.length; at++) transfer.push(moved[at]);
    const ports = streams?.ports;
    for (let at = 0; at < (ports?.length ?? 0); at++) if (ports[at]) transfer.push(ports[at]);
    return host.pack([workerData, host.environmentData(), ports, resourceLimits], transfer);
  }

  /**
   * Starts a worker whose messages, errors and end are events of `owner`, and which begins with what was packed last. `memory`:
   * how many bytes it may hold, if that is more than 0. `web`: type and name of one of a page's.
   */
  function startWorker(owner, isSource, source, words, variables, ids, memory, web) {
    const id = native.spawn(!!isSource, source, words, variables, ids, memory, web?.type, web?.name);
    workers.set(id, owner);
    return id;
  }

  function postToWorker(id, value, transfer) {
    const ids = host.pack(value, host.transferList(transfer));
    if (workers.has(id)) native.postToWorker(id, ids);
    else native.discard(ids);
  }

  /** Whether there was anything left to end. */
  function terminateWorker(id) {
    if (!workers.has(id)) return false;
    native.refWorker(id, true);
    native.terminate(id);
    return true;
  }

  /** The script of a worker: a file, or a data: URL. */
  function script(file) {
    if (file instanceof host.part("url").URL) {
      // A module: what is wrong with it, the worker finds out.
      if (file.protocol === "data:") return { isSource: false, text: file.href };
      return { isSource: false, text: host.part("url").fileURLToPath(file) };
    }
    if (typeof file !== "string") throw host.invalid("filename", "of type string or an instance of URL", file);
    const begins = (start) => apply(startsWith, file, [start]);
    if (!begins("/") && !begins("./") && !begins("../")) {
      const isUrl = begins("file://") || begins("data:");
      const hint = isUrl ? "Wrap " + (begins("data:") ? "data:" : "file://") + " URLs with `new URL`" : 'Write "./' + file + '" for a file in the current directory, or { eval: true } for source text';
      throw host.error(TypeError, "ERR_WORKER_PATH",
        "The worker script or module filename must be an absolute path or a relative path starting with './' or '../'. " + hint + '. Received "' + file + '"');
    }
    return { isSource: false, text: host.path.resolve(file) };
  }

  // What the event loop calls.
  host.put(host, "fromWorker", {
    message: (id, data, moved) => {
      const worker = workers.get(id);
      if (worker) host.deliver(worker, data, moved);
    },
    online: (id) => workers.get(id)?.[host.fire]("online", []),
    /** False if nobody takes care of it: the error is then this agent's too. */
    error: (id, parts, isOutOfMemory, message, filename, lineno, colno) => {
      const worker = workers.get(id);
      let error;
      if (isOutOfMemory) error = host.error(Error, "ERR_WORKER_OUT_OF_MEMORY", OUT_OF_MEMORY);
      else error = parts === undefined ? new Error(message) : host.thrownBy(parts);
      if (worker.listenerCount("error") === 0) return host.uncaught(error, "uncaughtException");
      return worker[host.fire]("error", [error], () => {
        const settings = { message: "Uncaught " + message, filename, lineno, colno, error, cancelable: true };
        return new (host.part("event").ErrorEvent)("error", settings);
      });
    },
    exit: (id, code) => {
      const worker = workers.get(id);
      workers.delete(id);
      worker[host.fire]("exit", [code]);
      worker[host.ended]?.();
    },
  });
  return { Worker, birth, postToWorker, startWorker, terminateWorker };
});
