// The part of node:worker_threads that scripts here may use. The threads themselves are made in worker.rs; what travels
// between them is what clone.js packs. Next: web_worker.js.
(function (host) {
  "use strict";

  const { native, options } = host;
  const { Error, Promise, String, TypeError } = globalThis;
  const { entries } = Object;
  const { apply, list, Map } = host.safe;
  const { startsWith } = String.prototype;
  const workers = new Map();
  const OUT_OF_MEMORY = "Worker terminated due to reaching memory limit: out of memory";

  class Worker extends host.EventEmitter {
    #id;
    #exit;

    constructor(file, settings = {}) {
      super();
      const { eval: isSource = false, argv = [], workerData, transferList, env } = settings;
      const source = isSource ? String(file) : scriptPath(file);
      const words = list();
      for (let at = 0; at < argv.length; at++) words.push(String(argv[at]));
      const variables = environment(env);
      this.#id = startWorker(this, isSource, source, words, variables, undefined, host.pack(workerData, transferList));
      this.#exit = new Promise((resolve) => this.once("exit", resolve));
    }

    get threadId() {
      return workers.has(this.#id) ? this.#id : -1;
    }

    postMessage(value, transfer) {
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
  }

  /** The environment of a worker: names and values, as texts. */
  function environment(env) {
    const texts = list();
    const pairs = entries(env ?? host.process.env);
    for (let at = 0; at < pairs.length; at++) {
      texts.push(String(pairs[at][0]));
      texts.push(String(pairs[at][1]));
    }
    return texts;
  }

  /**
   * Starts a worker whose messages, errors and end are events of `owner`, and whose `workerData` was packed last. `web`: type
   * and name of one of a page's.
   */
  function startWorker(owner, isSource, source, words, variables, web, ids) {
    const id = native.spawn(!!isSource, source, words, variables, web?.type, web?.name, ids);
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

  function scriptPath(file) {
    if (file instanceof host.URL) return host.fileURLToPath(file);
    if (typeof file !== "string") {
      throw host.error(TypeError, "ERR_INVALID_ARG_TYPE", "The filename must be a string or a URL");
    }
    const begins = (start) => apply(startsWith, file, [start]);
    if (!begins("/") && !begins("./") && !begins("../")) {
      const hint = 'Write "./' + file + '" for a file in the current directory, or { eval: true } for source text';
      throw host.error(TypeError, "ERR_WORKER_PATH", "The worker script must be an absolute path or start with ./ or ../. " + hint);
    }
    return host.path.resolve(file);
  }

  host.receive = {
    ...host.received,
    fromParent: (data, moved) => host.deliver(host.parentPort, data, moved),
    message: (id, data, moved) => {
      const worker = workers.get(id);
      if (worker) host.deliver(worker, data, moved);
    },
    online: (id) => workers.get(id)?.[host.fire]("online", []),
    /** False if the script does not listen: the error is then this agent's too. */
    error: (id, thrown, isOutOfMemory, message, filename, lineno, colno) => {
      const worker = workers.get(id);
      if (worker.listenerCount("error") === 0) return false;
      const error = isOutOfMemory ? host.error(Error, "ERR_WORKER_OUT_OF_MEMORY", OUT_OF_MEMORY) : thrown;
      return worker[host.fire]("error", [error], () => {
        const settings = { message: "Uncaught " + message, filename, lineno, colno, error, cancelable: true };
        return new host.ErrorEvent("error", settings);
      });
    },
    exit: (id, code) => {
      const worker = workers.get(id);
      workers.delete(id);
      worker[host.fire]("exit", [code]);
    },
  };
  Object.assign(host, { startWorker, environment, postToWorker, terminateWorker });
  host.workerThreads = {
    Worker,
    MessageChannel: host.MessageChannel,
    MessagePort: host.MessagePort,
    receiveMessageOnPort: host.receiveMessageOnPort,
    parentPort: host.parentPort,
    isMainThread: options.isMainThread,
    threadId: options.threadId,
    workerData: options.isMainThread ? (options.shared ?? null) : native.takeData(),
  };
});
