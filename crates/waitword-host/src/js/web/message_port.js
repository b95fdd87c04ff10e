// MessagePort and MessageChannel. What waits at a port is kept in channel.rs; a port is known there by a number, under
// which its script is called when something has come. Next: worker_threads.js.
(function (host) {
  "use strict";

  const { native } = host;
  const { TypeError } = globalThis;
  const { Map } = host.safe;
  const ports = new Map();
  let making = false;

  class MessagePort extends host.Target {
    #link;
    #closed = false;
    // Closed, and what waited at it has been delivered.
    #isGone = false;
    #receives = false;
    #keepsAlive = false;

    /** `link`: the functions that reach the other end. Scripts have none. */
    constructor(link) {
      if (!making) throw host.error(TypeError, "ERR_CONSTRUCT_CALL_INVALID", "Constructor cannot be called: use new MessageChannel()");
      super();
      this.#link = link;
    }

    postMessage(value, transfer) {
      if (arguments.length === 0) throw host.missing("message");
      const all = host.transferList(transfer);
      for (let at = 0; at < all.length; at++) {
        if (all[at] === this) throw new host.DOMException("Transfer list contains source port", "DataCloneError");
      }
      const ids = host.pack(value, all);
      // A getter may have closed it.
      if (this.#closed) native.discard(ids);
      else this.#link.post(ids);
    }

    /** A port with a listener takes messages, and keeps its agent alive; without one they wait. */
    [host.listenersChanged]() {
      const receives = this.listenerCount("message") > 0;
      if (receives === this.#receives) return;
      this.#receives = this.#keepsAlive = receives;
      this.#listen();
    }

    #listen() {
      if (!this.#closed) this.#link.listen(this.#receives, this.#keepsAlive);
    }

    start() {}

    ref() {
      return this.#keep(true);
    }

    unref() {
      return this.#keep(false);
    }

    hasRef() {
      return !this.#closed && this.#keepsAlive;
    }

    #keep(keepsAlive) {
      this.#keepsAlive = keepsAlive;
      this.#listen();
      return this;
    }

    close(callback) {
      if (callback !== undefined) this.once("close", callback);
      if (this.#closed) return;
      this.#closed = true;
      this.#link.close(this);
    }

    /** The first message, for `receiveMessageOnPort`. */
    static take(port) {
      const taken = port.#isGone ? undefined : port.#link.take();
      return taken === undefined ? undefined : { message: taken[0] };
    }

    /** Sends a port away that can go. */
    static detach(port) {
      port.#closed = port.#isGone = true;
      ports.delete(port.#link.id);
    }

    static idOf(port) {
      return port.#link.id;
    }

    static isPort(value) {
      return typeof value === "object" && value !== null && #link in value;
    }

    static canMove(port) {
      return !port.#closed && port.#link.id !== undefined;
    }

    static end(port) {
      port.#closed = port.#isGone = true;
      port.emit("close");
    }
  }

  // For the host alone.
  const { take, detach, idOf, isPort, canMove, end } = MessagePort;
  for (const name of ["take", "detach", "idOf", "isPort", "canMove", "end"]) delete MessagePort[name];
  host.withHandlers(MessagePort, ["message", "messageerror"]);

  function make(link) {
    making = true;
    try {
      return new MessagePort(link);
    } finally {
      making = false;
    }
  }

  /** The port that is known by this number. */
  function adopt(id) {
    const port = make({
      id,
      post: (ids) => native.postToPort(id, ids),
      listen: (receives, keepsAlive) => native.listenToPort(id, receives, keepsAlive),
      take: () => native.receiveFromPort(id),
      close: () => native.closePort(id),
    });
    ports.set(id, port);
    return port;
  }

  const parentPort = host.options.isMainThread ? null : make({
    post: (ids) => native.postToParent(ids),
    listen: (receives, keepsAlive) => native.listen(receives, keepsAlive),
    take: () => native.receiveFromParent(),
    close: (port) => {
      if (!native.closeParentPort()) host.enqueue(() => end(port));
    },
  });

  class MessageChannel {
    port1;
    port2;

    constructor() {
      const ids = native.openChannel();
      this.port1 = adopt(ids[0]);
      this.port2 = adopt(ids[1]);
    }
  }

  function receiveMessageOnPort(port) {
    if (!isPort(port)) {
      throw host.error(TypeError, "ERR_INVALID_ARG_TYPE", 'The "port" argument must be a MessagePort instance');
    }
    return take(port);
  }

  /** A message arrives at a target, with the ports that came with it. */
  function deliver(target, data, moved, origin = "") {
    target[host.fire]("message", [data], () => {
      const event = new (host.part("event").MessageEvent)("message", { data, origin, ports: [] });
      for (let at = 0; at < moved.length; at++) host.append(event.ports, moved[at]);
      return event;
    });
  }

  /** What else is called by a number, as ports are. */
  const register = (id, target) => void ports.set(id, target);
  const forget = (id) => void ports.delete(id);

  host.ports = { adopt, detach, idOf, isPort, canMove, register, forget };
  host.deliver = deliver;
  // What the event loop calls.
  host.receive = {
    fromParent: (data, moved) => deliver(parentPort, data, moved),
    parentClosed: () => end(parentPort),
    atPort: (id, data, moved) => {
      const port = ports.get(id);
      // Only a BroadcastChannel, which is no port, learns where a message comes from.
      if (port) deliver(port, data, moved, isPort(port) ? "" : host.origin);
    },
    lockGranted: (ticket) => void host.part("locks").granted(ticket),
    lockStolen: (ticket) => host.part("locks").stolen(ticket),
    portClosed: (id) => {
      const port = ports.get(id);
      ports.delete(id);
      if (isPort(port)) end(port);
    },
  };
  Object.assign(host, { MessageChannel, MessagePort, parentPort, receiveMessageOnPort });
});
