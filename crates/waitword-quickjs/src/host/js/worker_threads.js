// The part of node:worker_threads that scripts here may use. The threads themselves are made in worker.rs; what travels
// between them is a table of clone.js. Next: boot.js.
(function (host) {
  "use strict";

  const { native, options } = host;
  const { Promise, String, TypeError } = globalThis;
  const { isArray } = Array;
  const { entries } = Object;
  const { list, Map } = host.safe;
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
      this.#id = native.spawn(!!isSource, source, words, data);
      this.#exit = new Promise((resolve) => this.once("exit", resolve));
      workers.set(this.#id, this);
    }

    get threadId() {
      return workers.has(this.#id) ? this.#id : -1;
    }

    postMessage(value, transfer) {
      const table = host.encode(value, transferList(transfer));
      if (workers.has(this.#id)) native.postToWorker(this.#id, table);
    }

    terminate() {
      if (!workers.has(this.#id)) return new Promise((resolve) => resolve());
      this.ref();
      native.terminate(this.#id);
      return this.#exit;
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

  function scriptPath(file) {
    if (file instanceof host.URL) return host.fileURLToPath(file);
    if (typeof file !== "string") {
      throw host.error(TypeError, "ERR_INVALID_ARG_TYPE", "The filename must be a string or a URL");
    }
    if (!/^\.{0,2}\//.test(file)) {
      const hint = `Write "./${file}" for a file in the current directory, or { eval: true } for source text`;
      throw host.error(TypeError, "ERR_WORKER_PATH", `The worker script must be an absolute path or start with ./ or ../. ${hint}`);
    }
    return host.path.resolve(file);
  }

  const transferList = (transfer) => (isArray(transfer) ? transfer : (transfer?.transfer ?? []));

  class MessagePort extends host.EventEmitter {
    #closed = false;
    #keepsAlive = true;

    postMessage(value, transfer) {
      const table = host.encode(value, transferList(transfer));
      if (!this.#closed) native.postToParent(table);
    }

    /** A port with a listener takes messages and keeps its worker alive; without one they stay in the mailbox. */
    [host.listenersChanged]() {
      const open = !this.#closed && this.listenerCount("message") > 0;
      native.listen(open, open && this.#keepsAlive);
    }

    start() {}

    ref() {
      return this.#keep(true);
    }

    unref() {
      return this.#keep(false);
    }

    #keep(keepsAlive) {
      this.#keepsAlive = keepsAlive;
      this[host.listenersChanged]();
      return this;
    }

    close() {
      if (this.#closed) return;
      this.#closed = true;
      this[host.listenersChanged]();
      queueMicrotask(() => this.emit("close"));
    }
  }

  const parentPort = options.isMainThread ? null : new MessagePort();

  host.receive = {
    fromParent: (table) => parentPort.emit("message", host.decode(table)),
    message: (id, table) => workers.get(id)?.emit("message", host.decode(table)),
    online: (id) => workers.get(id)?.emit("online"),
    /** False if the script does not listen: the error is then this agent's too. */
    error: (id, table) => {
      const worker = workers.get(id);
      return worker.listenerCount("error") > 0 && worker.emit("error", host.decode(table));
    },
    exit: (id, code) => {
      const worker = workers.get(id);
      workers.delete(id);
      worker.emit("exit", code);
    },
  };
  host.workerThreads = {
    Worker,
    parentPort,
    isMainThread: options.isMainThread,
    threadId: options.threadId,
    workerData: options.isMainThread ? (options.shared ?? null) : host.decode(options.data),
  };
});
