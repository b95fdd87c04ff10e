// The part of node:worker_threads that scripts here may use. The threads themselves are made in worker.rs; what travels
// between them is a table of clone.js. Next: web_worker.js.
(function (host) {
  "use strict";

  const { native, options } = host;
  const { Promise, String, TypeError } = globalThis;
  const { entries } = Object;
  const { apply, list, Map } = host.safe;
  const { startsWith } = String.prototype;
  const workers = new Map();

  class Worker extends host.EventEmitter {
    #id;
    #exit;

    constructor(file, settings = {}) {
      super();
      const { eval: isSource = false, argv = [], workerData, transferList, env } = settings;
      const source = isSource ? String(file) : scriptPath(file);
      const data = [host.encode(workerData, transferList), entries(env ?? host.process.env)];
      const words = list();
      for (let at = 0; at < argv.length; at++) words.push(String(argv[at]));
      this.#id = startWorker(this, isSource, source, words, data);
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

  /** Starts a worker whose messages, errors and end are events of `owner`. `web`: how its script is to be read, if as a page's. */
  function startWorker(owner, isSource, source, words, data, web) {
    const id = native.spawn(!!isSource, source, words, data, web);
    workers.set(id, owner);
    return id;
  }

  function postToWorker(id, value, transfer) {
    const table = host.encode(value, host.transferList(transfer));
    if (workers.has(id)) native.postToWorker(id, table);
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
    fromParent: (table) => host.deliver(host.parentPort, table),
    message: (id, table) => {
      const worker = workers.get(id);
      if (worker) host.deliver(worker, table);
    },
    online: (id) => workers.get(id)?.[host.fire]("online", []),
    /** False if the script does not listen: the error is then this agent's too. */
    error: (id, table, message, filename, lineno, colno) => {
      const worker = workers.get(id);
      if (worker.listenerCount("error") === 0) return false;
      const error = host.decode(table);
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
  Object.assign(host, { startWorker, postToWorker, terminateWorker });
  host.workerThreads = {
    Worker,
    MessageChannel: host.MessageChannel,
    MessagePort: host.MessagePort,
    receiveMessageOnPort: host.receiveMessageOnPort,
    parentPort: host.parentPort,
    isMainThread: options.isMainThread,
    threadId: options.threadId,
    workerData: options.isMainThread ? (options.shared ?? null) : host.decode(options.data),
  };
});
