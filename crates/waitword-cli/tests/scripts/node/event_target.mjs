// EventTarget, its events, and AbortSignal.
//@ flags: --main-can-block
//@ stdout: as on Node

const target = new EventTarget();
const seen = [];
target.addEventListener("a", function (event) { seen.push([this === target, event.target === target, event.eventPhase, event instanceof Event]); });
const object = { handleEvent(event) { seen.push(this === object); event.preventDefault(); } };
target.addEventListener("a", object);
target.addEventListener("a", object);
target.addEventListener("a", () => seen.push("once"), { once: true });
console.log(target.dispatchEvent(new Event("a", { cancelable: true })), target.dispatchEvent(new Event("a")), seen);
const event = new Event("b", { bubbles: true });
console.log(event.type, event.bubbles, event.cancelable, event.composed, event.defaultPrevented, event.target, event.currentTarget, event.eventPhase, event.isTrusted);
class Counter extends EventTarget {
  fire(detail) { return this.dispatchEvent(new CustomEvent("count", { detail })); }
}
const counter = new Counter();
counter.addEventListener("count", ({ detail }) => console.log(detail));
counter.fire({ n: 1 });
const controller = new AbortController();
target.addEventListener("s", () => console.log("heard"), { signal: controller.signal });
target.dispatchEvent(new Event("s"));
controller.signal.onabort = ({ type }) => console.log(type, controller.signal.reason.name);
controller.abort();
target.dispatchEvent(new Event("s"));
target.addEventListener("stop", (it) => it.stopImmediatePropagation());
target.addEventListener("stop", () => console.log("never"));
target.dispatchEvent(new Event("stop"));
for (const call of [() => target.dispatchEvent({}), () => new Event(), () => target.addEventListener("x", 5), () => new AbortSignal(), () => AbortSignal.abort("why").throwIfAborted()]) {
  try {
    call();
    console.log("passed");
  } catch (error) {
    console.log(error?.name, error?.code ?? error);
  }
}
process.on("uncaughtException", (error) => console.log("uncaught", error.message));
target.addEventListener("throws", () => { throw new Error("in a listener"); });
target.addEventListener("throws", () => console.log("the next one"));
target.dispatchEvent(new Event("throws"));
console.log("after dispatch");
const { port1, port2 } = new MessageChannel();
console.log(port1 instanceof EventTarget, AbortSignal.any([AbortSignal.abort(1)]).reason);
port2.close();
AbortSignal.timeout(1).addEventListener("abort", ({ target }) => console.log(target.reason.name));
setTimeout(() => {}, 20);
