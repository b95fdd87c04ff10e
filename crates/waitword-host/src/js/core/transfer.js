// Transfer: which objects the arguments of posting functions name, and whether they can be moved with a message. Next: timers.js.
(function (host) {
  "use strict";

  const { TypeError } = globalThis;
  const { iterator } = Symbol;
  const { apply, isArray, list, Set } = host.safe;
  const { native, refuse } = host;
  const bufferLength = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "byteLength").get;
  const bufferDetached = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "detached").get;
  const nothing = list();
  const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";

  /**
   * Writes `value` as the message to be sent next, and moves the objects in `transfer`, a list of our own. Returns the numbers of its ports
   * here. Nothing is moved before all checks have passed, and after that nothing can fail.
   */
  host.pack = (value, transfer = nothing) => {
    if (transfer.length === 0) {
      native.pack(value, nothing, nothing);
      return nothing;
    }
    const { buffers, ports, ids } = check(transfer);
    native.pack(value, buffers, ports);
    // A getter that was read may have transferred a port.
    for (let at = 0; at < ports.length; at++) checkPort(ports[at]);
    native.seal(buffers, ports.length);
    for (let at = 0; at < ports.length; at++) host.ports.detach(ports[at]);
    return ids;
  };

  /** The second argument of `postMessage`: a transfer list, or options with one. */
  host.transferList = (transfer) => {
    if (transfer === undefined || transfer === null) return nothing;
    if (!isObject(transfer)) throw notIterable("transferList");
    if (isArray(transfer) || !isMissing(transfer[iterator])) return sequence(transfer);
    return host.transferOf(transfer);
  };

  /** The transfer list in options. */
  host.transferOf = (options) => {
    const { transfer } = options;
    if (transfer === undefined) return nothing;
    if (isArray(transfer)) return sequence(transfer);
    if (!isObject(transfer) || isMissing(transfer[iterator])) throw notIterable("options.transfer");
    return sequence(transfer);
  };

  const isMissing = (value) => value === undefined || value === null;
  const notIterable = (name) => host.error(TypeError, "ERR_INVALID_ARG_TYPE", "Optional " + name + " argument must be an iterable");

  /** Copies the list, because a script can change it in the meantime. Arrays are copied without iterators, which scripts may have replaced. */
  function sequence(iterable) {
    let all = iterable;
    if (!isArray(iterable)) all = list(...iterable);
    const objects = list();
    for (let at = 0; at < all.length; at++) {
      const each = all[at];
      if (!isObject(each)) throw host.error(TypeError, "ERR_INVALID_TRANSFER_OBJECT", "Found invalid object in transferList");
      objects.push(each);
    }
    return objects;
  }

  /** Separates buffers and ports. */
  function check(transfer) {
    const buffers = list();
    const ports = list();
    const ids = list();
    const seen = new Set();
    for (let at = 0; at < transfer.length; at++) {
      const each = transfer[at];
      if (seen.has(each)) refuse(transfer, "contains an object twice");
      seen.add(each);
      if (host.ports.isPort(each)) {
        checkPort(each);
        ports.push(each);
        ids.push(host.ports.idOf(each));
        continue;
      }
      if (!host.brand(bufferLength, each)) refuse(each, "cannot be transferred: only an ArrayBuffer or a MessagePort can");
      // As in Node, objects marked as untransferable are copied.
      if (host.isUntransferable(each)) continue;
      if (apply(bufferDetached, each, [])) refuse(each, "is already detached");
      buffers.push(each);
    }
    return { buffers, ports, ids };
  }

  function checkPort(port) {
    if (!host.ports.canMove(port)) refuse(port, "in the transfer list is closed, or already detached");
  }
});
