// node:worker_threads: its exports, and the data with which an agent began. Next: thrown.js.
(function (host) {
  "use strict";

  const { native, options } = host;
  const { Error, list, Map, Symbol, WeakMap } = host.safe;
  const untransferable = new WeakMap();
  const begun = options.isMainThread ? [options.shared ?? null] : native.takeData();

  // The data of setEnvironmentData, for all workers created later.
  const environment = new Map();
  for (let at = 0; at < (begun[1]?.length ?? 0); at += 2) environment.set(begun[1][at], begun[1][at + 1]);
  /** The same as alternating keys and values; undefined if there is none. */
  host.environmentData = () => {
    if (environment.size === 0) return undefined;
    const pairs = list();
    environment.forEach((value, key) => (pairs.push(key), pairs.push(value)));
    return pairs;
  };

  host.unavailable = (what) => host.error(Error, "ERR_METHOD_NOT_IMPLEMENTED", what + " is not supported; see docs/host.md");

  function markAsUntransferable(object) {
    if ((typeof object === "object" && object !== null) || typeof object === "function") untransferable.set(object, true);
  }

  host.isUntransferable = (object) => untransferable.has(object);
  host.workerThreads = {
    get BroadcastChannel() {
      return host.part("broadcast_channel").BroadcastChannel;
    },
    MessageChannel: host.MessageChannel,
    MessagePort: host.MessagePort,
    SHARE_ENV: Symbol.for("nodejs.worker_threads.SHARE_ENV"),
    get Worker() {
      return host.part("worker").Worker;
    },
    getEnvironmentData: (key) => environment.get(key),
    isInternalThread: false,
    isMainThread: options.isMainThread,
    isMarkedAsUntransferable: (object) => untransferable.has(object),
    get locks() {
      return host.part("locks").locks;
    },
    markAsUncloneable: host.markAsUncloneable,
    markAsUntransferable,
    moveMessagePortToContext: () => {
      throw host.unavailable("moveMessagePortToContext (there is one context: use the port where it is, or transfer it to a worker)");
    },
    parentPort: host.parentPort,
    postMessageToThread: () => {
      throw host.unavailable("postMessageToThread (transfer a MessagePort to each of the two threads, or use a BroadcastChannel)");
    },
    receiveMessageOnPort: host.receiveMessageOnPort,
    resourceLimits: begun[2] ?? {},
    setEnvironmentData: (key, value) => {
      if (value === undefined) environment.delete(key);
      else environment.set(key, value);
    },
    threadId: options.threadId,
    threadName: begun[3] ?? "",
    workerData: begun[0],
  };
});
