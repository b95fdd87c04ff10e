// postMessageToThread: a message to any agent of the program, by its number, and what became of it. The boxes are those of
// thread_messages.rs. A part that runs when it is first asked for.
(function (host) {
  "use strict";

  const { native, options } = host;
  const { Error, isInteger, Map, Promise, RangeError, String } = host.safe;
  const LONGEST = 2 ** 31 - 1; // milliseconds of a timer
  const DELIVERED = 0;
  const NOBODY_LISTENS = 1;
  const LISTENER_FAILED = 2;
  const waiting = new Map();

  const failed = () =>
    host.error(Error, "ERR_WORKER_MESSAGING_FAILED", "There is no such thread, or it has no listener for 'workerMessage'");

  function checkTimeout(timeout) {
    if (typeof timeout !== "number") throw host.invalid("timeout", "of type number", timeout);
    if (timeout >= 0) return;
    throw host.error(RangeError, "ERR_OUT_OF_RANGE",
      'The value of "timeout" is out of range. It must be >= 0. Received ' + String(timeout));
  }

  function postMessageToThread(threadId, value, transferList, timeout) {
    return new Promise((resolve, reject) => {
      const isShort = typeof transferList === "number" && timeout === undefined;
      const limit = isShort ? transferList : timeout;
      if (limit !== undefined) checkTimeout(limit);
      if (threadId === options.threadId) {
        throw host.error(Error, "ERR_WORKER_MESSAGING_SAME_THREAD", "A thread cannot post a message to itself");
      }
      if (!isInteger(threadId) || threadId < 0 || threadId > LONGEST) throw failed();
      const ids = host.pack(value, host.transferList(isShort ? undefined : transferList));
      const ticket = native.postToThread(threadId, ids);
      const asked = { resolve, reject, timer: undefined };
      waiting.set(ticket, asked);
      if (limit === undefined || limit > LONGEST) return;
      asked.timer = host.timers.setTimeout(() => {
        waiting.delete(ticket);
        native.forgetAnswer(ticket);
        reject(host.error(Error, "ERR_WORKER_MESSAGING_TIMEOUT", "The other thread did not take the message in time"));
      }, limit);
    });
  }

  /** The other thread has answered. */
  function answered(ticket, answer) {
    const asked = waiting.get(ticket);
    waiting.delete(ticket);
    if (asked.timer) host.timers.clearTimeout(asked.timer);
    if (answer === DELIVERED) asked.resolve();
    else if (answer === NOBODY_LISTENS) asked.reject(failed());
    else asked.reject(host.error(Error, "ERR_WORKER_MESSAGING_ERRORED", "A listener of the other thread threw an error"));
  }

  /** A message has come: what became of it. */
  function receive(value, source) {
    try {
      return host.made("process")?.process.emit("workerMessage", value, source) ? DELIVERED : NOBODY_LISTENS;
    } catch {
      return LISTENER_FAILED;
    }
  }

  return { answered, postMessageToThread, receive };
});
