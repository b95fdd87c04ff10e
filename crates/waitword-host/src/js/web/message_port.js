// MessagePort and MessageChannel. Messages are queued in channel.rs, which knows a port by a number and calls its script under that number when
// a message has arrived. Next: worker_threads.js.
(function (host) {
  "use strict";

  const { native } = host;
  const { TypeError } = globalThis;
  const { Map } = host.safe;
  /** The ports by their numbers: `{ target, origin }`. */
  const ports = new Map();
  /** A number that no port has. */
  const NOBODY = 0;

  class MessagePort extends host.NodeEventTarget {
    /** The number of the port. */
    #id;
    #closed = false;
    // Closed, and the queued messages are delivered.
    #isGone = false;
    #receives = false;
    #keepsAlive = false;

    constructor(key = undefined, id = undefined) {
      if (key !== host.own) throw host.error(TypeError, "ERR_CONSTRUCT_CALL_INVALID", "Constructor cannot be called: use new MessageChannel()");
      super();
      this.#id = id;
    }

    postMessage(value, transfer = undefined) {
      if (arguments.length === 0) throw host.missing("message");
      const all = host.transferList(transfer);
      for (let at = 0; at < all.length; at++) {
        if (all[at] === this) throw new host.DOMException("Transfer list contains source port", "DataCloneError");
      }
      const ids = host.pack(value, all);
      // A getter may have closed it.
      native.postToPort(this.#closed ? NOBODY : this.#id, ids);
    }

    /** A port with a listener receives messages and keeps its agent alive. Without one, messages stay queued. */
    [host.listenersChanged]() {
      const receives = this.listenerCount("message") > 0;
      if (receives === this.#receives) return;
      this.#receives = this.#keepsAlive = receives;
      this.#listen();
    }

    #listen() {
      if (!this.#closed) native.listenToPort(this.#id, this.#receives, this.#keepsAlive);
    }

    start() {}

    ref() {
      this.#keep(true);
    }

    unref() {
      this.#keep(false);
    }

    hasRef() {
      return !this.#closed && this.#keepsAlive;
    }

    #keep(keepsAlive) {
      this.#keepsAlive = keepsAlive;
      this.#listen();
    }

    close(callback) {
      if (typeof callback === "function") this.once("close", callback);
      if (this.#closed) return;
      this.#closed = true;
      native.closePort(this.#id);
    }

    /** Takes the first message, for `receiveMessageOnPort`. */
    static take(port) {
      const taken = port.#isGone ? undefined : native.receiveFromPort(port.#id);
      return taken === undefined ? undefined : { message: taken[0] };
    }

    /** Transfers a port that can be transferred. */
    static detach(port) {
      port.#closed = port.#isGone = true;
      ports.delete(port.#id);
    }

    static idOf(port) {
      return port.#id;
    }

    static isPort(value) {
      return typeof value === "object" && value !== null && #id in value;
    }

    static canMove(port) {
      return !port.#closed && port !== parentPort;
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
  host.shape(MessagePort);

  /** The port with this number. */
  function adopt(id) {
    const port = new MessagePort(host.own, id);
    register(id, port);
    return port;
  }

  // A worker's first port is the one to its parent.
  const parentPort = host.options.isMainThread ? null : adopt(1);

  class MessageChannel {
    constructor() {
      const ids = native.openChannel();
      host.put(this, "port1", adopt(ids[0]));
      host.put(this, "port2", adopt(ids[1]));
    }
  }
  host.shape(MessageChannel);

  function receiveMessageOnPort(port) {
    if (host.made("broadcast_channel")?.isChannel(port)) return host.made("broadcast_channel").take(port);
    if (!isPort(port)) {
      throw host.error(TypeError, "ERR_INVALID_ARG_TYPE", 'The "port" argument must be a MessagePort instance');
    }
    return take(port);
  }

  /** Delivers a message to a target, with the ports that came with it. */
  function deliver(target, data, moved, origin) {
    target[host.fire]("message", [data], () => {
      return new (host.part("event").MessageEvent)("message", { __proto__: null, data, origin, ports: moved });
    });
  }

  /** Makes messages at the port with this number go to `target`. `origin`: the origin of their events. */
  function register(id, target, origin = "") {
    ports.set(id, { target, origin });
  }

  const forget = (id) => void ports.delete(id);

  host.ports = { adopt, detach, idOf, isPort, canMove, register, forget };
  // What the event loop calls.
  host.receive = {
    atPort: (id, data, moved) => {
      const known = ports.get(id);
      if (known) deliver(known.target, data, moved, known.origin);
    },
    lockGranted: (ticket) => void host.part("locks").granted(ticket),
    lockStolen: (ticket) => host.part("locks").stolen(ticket),
    portClosed: (id) => {
      const port = ports.get(id)?.target;
      ports.delete(id);
      if (isPort(port)) end(port);
    },
  };
  Object.assign(host, { MessageChannel, MessagePort, parentPort, receiveMessageOnPort });
});
