// The Worker of node:worker_threads, and other functions for agents with workers. The threads are created in worker.rs. Loaded at first use.
(function (host) {
  "use strict";

  const { native } = host;
  const { apply, Error, freeze, isArray, list, Map, Promise, startsWith, String, Symbol, trim, TypeError } = host.safe;
  const OUT = 1;
  const ERR = 2;
  const workers = new Map();
  // The numbers of the ports to the workers, and one that no port has.
  const ports = new Map();
  const NOBODY = 0;
  // The workers that have emitted `online`.
  const online = new Map();
  const MEBIBYTE = 2 ** 20;
  const OUT_OF_MEMORY = "Worker terminated due to reaching memory limit: JS heap out of memory";

  class Worker extends host.EventEmitter {
    #id;
    #exit;
    #streams;
    #limits;
    #name;
    // As in Node, a worker and the port to it keep their agent alive independently, the port from its first listener on.
    #isKept = true;
    #isPortKept = false;
    #receives = false;

    constructor(file, settings = undefined) {
      super();
      const { eval: isSource = false, argv, workerData, transferList, env, resourceLimits } = settings ?? {};
      checkSettings(settings ?? {});
      if (isSource && typeof file !== "string") {
        throw host.error(TypeError, "ERR_INVALID_ARG_VALUE",
          "The property 'options.eval' must be false when 'filename' is not a string. Received true");
      }
      this.#name = nameOf(settings?.name);
      const source = isSource ? { isSource: true, text: String(file) } : script(file);
      const words = list();
      for (let at = 0; at < (argv?.length ?? 0); at++) words.push(String(argv[at]));
      const variables = host.variables(env);
      this.#limits = limits(resourceLimits);
      this.#streams = openStreams(settings);
      const memory = this.#limits.maxOldGenerationSizeMb * MEBIBYTE;
      // Last, because the packed message must be the next that is sent: no script may run in between.
      const ids = packWorkerData(workerData, transferList, resourceLimits && this.#limits, this.#name);
      const { stdout, stderr } = this.#streams;
      const options = { ...source, words, variables, ids, memory, keepsOut: !!stdout, keepsErr: !!stderr };
      this.#id = startWorker(this, options);
      this.#exit = new Promise((resolve) => this.once("exit", resolve));
      host.nextTick(() => {
        // A program that accesses a stream only after this job gets the output from that time on.
        if (!this.#streams.stdout) native.tapWorker(this.#id, OUT, false);
        if (!this.#streams.stderr) native.tapWorker(this.#id, ERR, false);
        host.made("process")?.process.emit("worker", this);
      });
    }

    get threadId() {
      return workers.has(this.#id) ? this.#id : -1;
    }

    get threadName() {
      return workers.has(this.#id) ? this.#name : null;
    }

    get resourceLimits() {
      return workers.has(this.#id) ? this.#limits : {};
    }

    get stdin() {
      return null;
    }

    get stdout() {
      return (this.#streams.stdout ??= tapped(this.#id, OUT));
    }

    get stderr() {
      return (this.#streams.stderr ??= tapped(this.#id, ERR));
    }

    postMessage(value, transfer = undefined) {
      if (arguments.length === 0) throw host.missing("message");
      postToWorker(this.#id, value, transfer);
    }

    terminate() {
      return terminateWorker(this.#id) ? this.#exit : new Promise((resolve) => resolve());
    }

    ref() {
      this.#keep(true);
    }

    unref() {
      this.#keep(false);
    }

    #keep(keepsAlive) {
      this.#isKept = this.#isPortKept = keepsAlive;
      native.refWorker(this.#id, keepsAlive);
    }

    [host.listenersChanged]() {
      const receives = this.listenerCount("message") > 0;
      if (receives === this.#receives) return;
      this.#receives = this.#isPortKept = receives;
      native.refWorker(this.#id, this.#isKept || receives);
    }

    get performance() {
      return (this.#performance ??= { eventLoopUtilization: (one, two) => utilization(this.#id, one, two) });
    }
    #performance;

    async [Symbol.asyncDispose]() {
      await this.terminate();
    }

    static printed(worker, which, text) {
      // A web worker has no streams.
      if (!(#streams in worker)) return;
      const readable = which === OUT ? worker.#streams.stdout : worker.#streams.stderr;
      if (readable) host.part("readable").feed(readable, text);
    }

    [host.ended]() {
      const { stdout, stderr } = this.#streams;
      if (stdout) host.part("readable").finish(stdout);
      if (stderr) host.part("readable").finish(stderr);
    }
  }
  const { printed } = Worker;
  delete Worker.printed;

  const NOT_OFFERED = {
    __proto__: null,
    cpuUsage: "use worker.performance.eventLoopUtilization()",
    getHeapSnapshot: "limit what a worker holds by resourceLimits.maxOldGenerationSizeMb, and take a snapshot of the same program on Node",
    getHeapStatistics: "limit what a worker holds by resourceLimits.maxOldGenerationSizeMb",
    startCpuProfile: "profile the process from outside, or the same program on Node",
    startHeapProfile: "profile the same program on Node",
  };
  for (const name in NOT_OFFERED) {
    Worker.prototype[name] = async function () {
      if (this.threadId < 0) throw host.error(Error, "ERR_WORKER_NOT_RUNNING", "Worker instance not running");
      throw host.unavailable("worker." + name + "() (" + NOT_OFFERED[name] + ")");
    };
  }

  /** The name, trimmed, or a default name, as in Node. */
  function nameOf(name) {
    if (!name) return "WorkerThread";
    if (typeof name !== "string") throw host.invalid("options.name", "of type string", name);
    return apply(trim, name, []);
  }

  /** The utilization of a worker: since it went online, since `one`, or between `two` and `one`. */
  function utilization(id, one, two) {
    if (one && two) return share(one.idle - two.idle, one.active - two.active);
    if (!online.has(id)) return { idle: 0, active: 0, utilization: 0 };
    const now = native.usageOfWorker(id);
    return one ? share(now[0] - one.idle, now[1] - one.active) : share(now[0], now[1]);
  }

  const share = (idle, active) => ({ idle, active, utilization: idle + active > 0 ? active / (idle + active) : 0 });

  /** A stream of the worker's output, which is also printed as usual. */
  function tapped(id, which) {
    const { Readable, finish } = host.part("readable");
    const readable = new Readable();
    if (workers.has(id)) native.tapWorker(id, which, true);
    else finish(readable);
    return readable;
  }

  function checkSettings({ argv, env, execArgv, stdin }) {
    if (argv !== undefined && argv !== null && !isArray(argv)) throw host.invalid("options.argv", "an instance of Array", argv);
    if (env === host.workerThreads.SHARE_ENV) throw host.unavailable("SHARE_ENV (give the worker a copy: { env: process.env }, and post what changes)");
    if (env !== undefined && env !== null && typeof env !== "object") {
      throw host.invalid("options.env", "of type object or one of undefined, null, or worker_threads.SHARE_ENV", env);
    }
    if (execArgv !== undefined && execArgv !== null && !isArray(execArgv)) throw host.invalid("options.execArgv", "an instance of Array", execArgv);
    if (execArgv?.length > 0) {
      const flag = String(execArgv[0]);
      throw host.error(Error, "ERR_WORKER_INVALID_EXEC_ARGV", "Initiated Worker with invalid execArgv flags: " + flag + " (no flags are supported)");
    }
    if (stdin) throw host.unavailable("The option stdin of Worker (post messages instead)");
  }

  /** The resource limits of a worker. Only that of the old generation has an effect here: it limits the worker's memory. */
  function limits(wanted) {
    if (typeof wanted !== "object" || wanted === null) return freeze({});
    const { maxYoungGenerationSizeMb = 0, maxOldGenerationSizeMb = 0, codeRangeSizeMb = 0, stackSizeMb = 4 } = wanted;
    return { maxYoungGenerationSizeMb, maxOldGenerationSizeMb, codeRangeSizeMb, stackSizeMb };
  }

  /** The outputs that go to this agent only. */
  function openStreams(settings) {
    const open = (isWanted) => (isWanted ? new (host.part("readable").Readable)() : undefined);
    return { stdout: open(settings?.stdout), stderr: open(settings?.stderr) };
  }

  /** Packs the data of a new worker: `workerData`, and the rest that its parent passes. */
  function packWorkerData(workerData, transferList, resourceLimits, name) {
    return host.pack([workerData, host.environmentData(), resourceLimits, name], transferList ? host.transferList(transferList) : undefined);
  }

  /**
   * Starts a worker with the data that was packed last. Its messages, errors and end become events of `owner`. The options are those of
   * `spawn` in natives/workers.rs.
   */
  function startWorker(owner, options) {
    // Without a prototype, so that an omitted option is undefined, whatever a script added to Object.prototype.
    const made = native.spawn({ __proto__: null, ...options });
    workers.set(made[0], owner);
    ports.set(made[0], made[1]);
    host.ports.register(made[1], owner);
    return made[0];
  }

  function postToWorker(id, value, transfer) {
    const ids = host.pack(value, host.transferList(transfer));
    native.postToPort(ports.get(id) ?? NOBODY, ids);
  }

  /** Returns whether the worker had not ended yet. */
  function terminateWorker(id) {
    if (!workers.has(id)) return false;
    native.refWorker(id, true);
    native.terminate(id);
    return true;
  }

  /** The script of a worker: a file, or a data: URL. */
  function script(file) {
    if (file instanceof host.part("url").URL) {
      // A module. The worker itself reports its errors.
      if (file.protocol === "data:") return { isSource: false, text: file.href };
      return { isSource: false, text: host.part("url").fileURLToPath(file) };
    }
    if (typeof file !== "string") throw host.invalid("filename", "of type string or an instance of URL", file);
    const begins = (start) => apply(startsWith, file, [start]);
    if (!host.isFileName(file)) {
      const isUrl = begins("file://") || begins("data:");
      const hint = isUrl ? "Wrap " + (begins("data:") ? "data:" : "file://") + " URLs with `new URL`" : 'Write "./' + file + '" for a file in the current directory, or { eval: true } for source text';
      throw host.error(TypeError, "ERR_WORKER_PATH",
        "The worker script or module filename must be an absolute path or a relative path starting with './' or '../'. " + hint + '. Received "' + file + '"');
    }
    return { isSource: false, text: host.path.resolve(file) };
  }

  // What the event loop calls.
  host.put(host, "fromWorker", {
    printed: (id, which, text) => {
      const worker = workers.get(id);
      if (worker) printed(worker, which, text);
    },
    online: (id) => {
      online.set(id, true);
      workers.get(id)?.[host.fire]("online", []);
    },
    /** Returns false if there is no listener. Then the error fails this agent, too. */
    error: (id, parts, isOutOfMemory, message, filename, lineno, colno) => {
      const worker = workers.get(id);
      let error;
      if (isOutOfMemory) error = host.error(Error, "ERR_WORKER_OUT_OF_MEMORY", OUT_OF_MEMORY);
      else error = parts === undefined ? new Error(message) : host.thrownBy(parts);
      if (!host.listeners.of(worker, "error")) return host.uncaught(error, "uncaughtException");
      return worker[host.fire]("error", [error], () => {
        const settings = { message: "Uncaught " + message, filename, lineno, colno, error, cancelable: true };
        return new (host.part("event").ErrorEvent)("error", settings);
      });
    },
    exit: (id, code) => {
      const worker = workers.get(id);
      workers.delete(id);
      ports.delete(id);
      online.delete(id);
      worker[host.fire]("exit", [code]);
      worker[host.ended]?.();
    },
  });
  return { Worker, packWorkerData, postToWorker, startWorker, terminateWorker };
});
