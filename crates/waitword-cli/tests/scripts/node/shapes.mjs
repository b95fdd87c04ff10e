// Classes and functions that docs/host.md lists, beside Node's and the specifications': members, lengths, tags, what is refused and with which
// code, `this`, lone surrogates, the order of signals. Each row ends with what is right. Where Node 20 differs from the specifications, it says so.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same
//@ node differs: shape("AbortSignal")
//@ node differs: shape("BroadcastChannel")
//@ node differs: shape("ErrorEvent")
//@ node differs: shape("Event")
//@ node differs: shape("MessageChannel")
//@ node differs: shape("MessageEvent")
//@ node differs: shape("MessagePort")
//@ node differs: shape("PromiseRejectionEvent")
//@ node differs: shape("Timeout")
//@ node differs: shape("Worker")
//@ node differs: shape("the page's Worker")
//@ node differs: AbortSignal.prototype.aborted
//@ node differs: AbortSignal.prototype.throwIfAborted.call({})
//@ node differs: Event.prototype.type
//@ node differs: new MessageEvent()
//@ node differs: new MessageEvent("m", {ports: 5})
//@ node differs: new MessageEvent("m", 5)
//@ node differs: { const ev = new Event("x", {cancelable: true}); ev.returnValue = false; ev.defaultPrevented }
//@ node differs: target.addEventListener("x", () => {}, 5)
//@ node differs: channel.port2.on("x")
//@ node differs: channel.port2.once("x")
//@ node differs: channel.port2.off("x")
//@ node differs: channel.port2.eventNames().join()
//@ node differs: channel.port2.setMaxListeners(5)
//@ node differs: MessagePort()
//@ node differs: MessageChannel()
//@ node differs: broadcast.ref()
//@ node differs: BroadcastChannel.prototype.close.call({})
//@ node differs: BroadcastChannel.prototype.name
//@ node differs: new TextEncoder().encodeInto()
//@ node differs: new TextEncoder().encodeInto("x")
//@ node differs: new TextEncoder().encodeInto(5, new Uint8Array(4)).read
//@ node differs: { const x = new Error("m"); delete x.stack; typeof x.stack }
//@ node differs: Object.prototype.toString.call(navigator)
//@ node differs: { const one = new AbortController(), any = AbortSignal.any([one.signal]), seen = []; any.onabort = () => seen.push("any"); one.signal.onabort = () => seen.push("source " + any.aborted); one.abort(7); [...seen, any.reason].join() }
//@ node differs: new ErrorEvent("e").message
//@ node differs: new ErrorEvent("e", { lineno: -1, colno: 1.5, message: 5 }).lineno
//@ node differs: new ErrorEvent()
//@ node differs: new PromiseRejectionEvent("p")
//@ node differs: new PromiseRejectionEvent("p", {})
//@ node differs: new PromiseRejectionEvent("p", { promise: 1, reason: 2 }).reason
//@ node differs: new globalThis.Worker()
//@ node differs: workerThreads.locks.request("x", 5).catch(f) instanceof Promise
//@ node differs: workerThreads.locks.request.length
//@ node differs: Object.prototype.toString.call(workerThreads.locks)
//@ node differs: new workerThreads.locks.constructor()
//@ node differs: addEventListener("x")
//@ node differs: reportError()

import * as workerThreads from "node:worker_threads";
import events, { EventEmitter } from "node:events";
import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";
import url from "node:url";
import util from "node:util";

const { BroadcastChannel, MessageChannel, MessagePort, Worker } = workerThreads;
const target = new EventTarget();
const emitter = new EventEmitter();
const channel = new MessageChannel();
const broadcast = new BroadcastChannel("shapes");
const controller = new AbortController();
const timeout = setTimeout(() => {}, 1e6);
const immediate = setImmediate(() => {});
const worker = new Worker("", { eval: true });
let f = () => {};
const classes = {
  AbortController, AbortSignal, Blob, BroadcastChannel, CustomEvent, DOMException, ErrorEvent: globalThis.ErrorEvent, Event, EventEmitter, EventTarget,
  Immediate: immediate.constructor, MessageChannel, MessageEvent, MessagePort, PromiseRejectionEvent: globalThis.PromiseRejectionEvent,
  TextDecoder, TextEncoder, Timeout: timeout.constructor, URL, Worker, "the page's Worker": globalThis.Worker,
};
/** What Node has besides, and host.md says that there is not, or what is of its inner life. */
const absent = {
  Blob: "arrayBuffer bytes slice stream",
  EventEmitter: "EventEmitterAsyncResource _events _eventsCount _maxListeners addAbortListener captureRejectionSymbol captureRejections init kMaxEventTargetListeners kMaxEventTargetListenersWarned on usingDomains",
  MessagePort: "arguments caller", MessageChannel: "arguments caller",
  URL: "searchParams",
};
/** What is there besides what Node 20 has: of later versions, or what says that it is not offered. */
const added = { Worker: "cpuUsage getHeapSnapshot getHeapStatistics startCpuProfile startHeapProfile threadName" };

/** A member: its name, how many arguments it needs; a getter and perhaps a setter; `-` before what is not enumerable. */
function member(object, name) {
  const { enumerable, get, set, value } = Object.getOwnPropertyDescriptor(object, name);
  const kind = get ? `:get${set ? ":set" : ""}` : typeof value === "function" ? `(${value.length})` : `=${String(value)}`;
  return (enumerable ? "" : "-") + name + kind;
}

/** The members of a class and of what it inherits from classes that are not in the table. */
function membersOf(name, Class) {
  const skipped = `${absent[name] ?? ""} ${added[name] ?? ""} constructor prototype name length`.split(" ");
  const known = [Object.prototype, Error.prototype, ...Object.values(classes).flatMap((each) => (each && each !== Class ? [each.prototype] : []))];
  const all = new Map();
  for (let at = Class.prototype; at !== null && !known.includes(at); at = Object.getPrototypeOf(at)) {
    for (const key of Object.getOwnPropertyNames(at)) if (!skipped.includes(key) && !all.has(key)) all.set(key, member(at, key));
  }
  const own = Object.getOwnPropertyNames(Class).filter((key) => !skipped.includes(key) && key !== key.toUpperCase()).map((key) => `static ${member(Class, key)}`);
  return [...own, ...all.values()].filter((text) => !/=\d+$/.test(text)).sort().join(" ");
}

function shape(name) {
  const Class = classes[name];
  return Class ? `${Class.name}(${Class.length}) tag ${Class.prototype[Symbol.toStringTag]}: ${membersOf(name, Class)}` : "missing";
}

function shown(value) {
  if (typeof value === "function") return "function";
  if (typeof value === "object" && value !== null) return value instanceof Error ? `${value.name} ${value.code}` : Object.prototype.toString.call(value);
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/** What an expression is, or name and code of what it throws. */
function outcome(text) {
  try {
    return shown(eval(text));
  } catch (error) {
    return `throws ${error.name}${error.code === undefined ? "" : ` ${error.code}`}`;
  }
}

const rows = String.raw`
shape("AbortController") => "AbortController(0) tag AbortController: abort(0) signal:get"
shape("AbortSignal") => "AbortSignal(0) tag AbortSignal: aborted:get onabort:get:set reason:get static abort(0) static any(1) static timeout(1) throwIfAborted(0)"
shape("Blob") => "Blob(0) tag Blob: size:get text(0) type:get"
shape("BroadcastChannel") => "BroadcastChannel(1) tag BroadcastChannel: close(0) onmessage:get:set onmessageerror:get:set postMessage(1) ref(0) unref(0)"
shape("CustomEvent") => "CustomEvent(1) tag CustomEvent: detail:get"
shape("DOMException") => "DOMException(0) tag DOMException: code:get message:get"
shape("ErrorEvent") => "ErrorEvent(1) tag ErrorEvent: colno:get error:get filename:get lineno:get message:get"
shape("Event") => "Event(1) tag Event: bubbles:get cancelBubble:get:set cancelable:get composed:get composedPath(0) currentTarget:get defaultPrevented:get eventPhase:get initEvent(1) isTrusted:get preventDefault(0) returnValue:get:set srcElement:get stopImmediatePropagation(0) stopPropagation(0) target:get timeStamp:get type:get"
shape("EventEmitter") => "EventEmitter(1) tag undefined: addListener(2) emit(1) eventNames(0) getMaxListeners(0) listenerCount(2) listeners(1) off(2) once(2) prependListener(2) prependOnceListener(2) rawListeners(1) removeAllListeners(1) removeListener(2) setMaxListeners(1) static EventEmitter(1) static defaultMaxListeners:get:set static errorMonitor=Symbol(events.errorMonitor) static getEventListeners(2) static getMaxListeners(1) static listenerCount(2) static once(2) static setMaxListeners(0)"
shape("EventTarget") => "EventTarget(0) tag EventTarget: addEventListener(2) dispatchEvent(1) removeEventListener(2)"
shape("Immediate") => "Immediate(2) tag undefined: -hasRef(0) -ref(0) -unref(0)"
shape("MessageChannel") => "MessageChannel(0) tag MessageChannel: "
shape("MessageEvent") => "MessageEvent(1) tag MessageEvent: data:get lastEventId:get origin:get ports:get source:get"
shape("MessagePort") => "MessagePort(0) tag MessagePort: addListener(2) close(1) emit(1) eventNames(0) getMaxListeners(0) hasRef(0) listenerCount(2) off(2) on(2) once(2) onmessage:get:set onmessageerror:get:set postMessage(1) ref(0) removeAllListeners(1) removeListener(2) setMaxListeners(1) start(0) unref(0)"
shape("PromiseRejectionEvent") => "PromiseRejectionEvent(2) tag PromiseRejectionEvent: promise:get reason:get"
shape("TextDecoder") => "TextDecoder(0) tag TextDecoder: decode(0) encoding:get fatal:get ignoreBOM:get"
shape("TextEncoder") => "TextEncoder(0) tag TextEncoder: encode(0) encodeInto(2) encoding:get"
shape("Timeout") => "Timeout(4) tag undefined: -close(0) -hasRef(0) -ref(0) -refresh(0) -unref(0)"
shape("URL") => "URL(1) tag URL: hash:get:set host:get:set hostname:get:set href:get:set origin:get password:get:set pathname:get:set port:get:set protocol:get:set search:get:set static canParse(1) static createObjectURL(1) static parse(1) static revokeObjectURL(1) toJSON(0) toString(0) username:get:set"
shape("Worker") => "Worker(1) tag undefined: -performance:get -postMessage(1) -ref(0) -resourceLimits:get -stderr:get -stdin:get -stdout:get -terminate(0) -threadId:get -unref(0)"
shape("the page's Worker") => "Worker(1) tag Worker: onerror:get:set onmessage:get:set onmessageerror:get:set postMessage(1) terminate(0)"
AbortSignal.timeout(-1) => throws RangeError ERR_OUT_OF_RANGE
AbortSignal.timeout() => throws TypeError ERR_INVALID_ARG_TYPE
AbortSignal.timeout("5") => throws TypeError ERR_INVALID_ARG_TYPE
AbortSignal.timeout(NaN) => throws RangeError ERR_OUT_OF_RANGE
AbortSignal.timeout(1.5) => throws RangeError ERR_OUT_OF_RANGE
AbortSignal.timeout(2**53) => throws RangeError ERR_OUT_OF_RANGE
AbortSignal.timeout(2**32) => throws RangeError ERR_OUT_OF_RANGE
AbortSignal.timeout(10).constructor.name => "AbortSignal"
AbortSignal.any() => throws TypeError ERR_INVALID_ARG_TYPE
AbortSignal.any(5) => throws TypeError ERR_INVALID_ARG_TYPE
AbortSignal.any([1]) => throws TypeError ERR_INVALID_ARG_TYPE
AbortSignal.any([]).aborted => false
AbortSignal.any([AbortSignal.abort("x")]).reason => "x"
AbortSignal.abort().reason => AbortError 20
AbortSignal.abort(undefined).reason => AbortError 20
AbortSignal.abort(null).reason => null
AbortSignal.abort(0).reason => 0
new AbortSignal() => throws TypeError ERR_ILLEGAL_CONSTRUCTOR
AbortSignal.prototype.aborted => throws TypeError
AbortController.prototype.signal => throws TypeError
AbortController.prototype.abort.call({}) => throws TypeError
AbortSignal.prototype.throwIfAborted.call({}) => throws TypeError
controller.abort.length => 0
new Event() => throws TypeError ERR_MISSING_ARGS
new Event(undefined).type => "undefined"
new Event("x", 5) => throws TypeError ERR_INVALID_ARG_TYPE
new Event("x", null).bubbles => false
new Event("x", "s") => throws TypeError ERR_INVALID_ARG_TYPE
new Event("x").timeStamp > 0 => true
new Event("x").type = 5 => throws TypeError
new Event("x").isTrusted => false
Object.getOwnPropertyNames(new Event("x")).join() => ""
Event.prototype.type => throws TypeError
new Event(Symbol()) => throws TypeError
new CustomEvent() => throws TypeError ERR_MISSING_ARGS
new CustomEvent("x").detail => null
new CustomEvent("x", {detail: undefined}).detail => null
new CustomEvent("x", 5) => throws TypeError ERR_INVALID_ARG_TYPE
new MessageEvent() => throws TypeError ERR_MISSING_ARGS
new MessageEvent("m").data => null
new MessageEvent("m", {data: undefined}).data => null
new MessageEvent("m", {ports: 5}) => throws TypeError ERR_INVALID_ARG_TYPE
new MessageEvent("m", {ports: []}).ports.length => 0
new MessageEvent("m", {source: 5}) => throws TypeError ERR_INVALID_ARG_TYPE
new MessageEvent("m", 5) => throws TypeError ERR_INVALID_ARG_TYPE
new MessageEvent("m").origin => ""
new MessageEvent("m", {origin: 5}).origin => "5"
{ const ev = new Event("x"); ev.cancelBubble = true; ev.cancelBubble } => true
{ const ev = new Event("x"); ev.stopPropagation(); ev.cancelBubble } => true
{ const ev = new Event("x"); ev.stopImmediatePropagation(); ev.cancelBubble } => true
{ const ev = new Event("x", {cancelable: true}); ev.returnValue = false; ev.defaultPrevented } => true
{ const ev = new Event("x"); ev.initEvent("y"); ev.type } => "y"
target.addEventListener() => throws TypeError ERR_MISSING_ARGS
target.addEventListener("x") => throws TypeError ERR_MISSING_ARGS
target.addEventListener("x", null) => undefined
target.addEventListener("x", 5) => throws TypeError ERR_INVALID_ARG_TYPE
target.addEventListener("x", "s") => throws TypeError ERR_INVALID_ARG_TYPE
target.addEventListener("x", {}) => undefined
target.addEventListener("x", () => {}, { signal: 5 }) => throws TypeError ERR_INVALID_ARG_TYPE
target.addEventListener("x", () => {}, { signal: null }) => throws TypeError ERR_INVALID_ARG_TYPE
target.addEventListener("x", () => {}, 5) => undefined
target.removeEventListener() => throws TypeError ERR_MISSING_ARGS
target.removeEventListener("x") => throws TypeError ERR_MISSING_ARGS
target.removeEventListener("x", null) => undefined
target.removeEventListener("x", 5) => throws TypeError ERR_INVALID_ARG_TYPE
target.dispatchEvent() => throws TypeError ERR_MISSING_ARGS
target.dispatchEvent({}) => throws TypeError ERR_INVALID_ARG_TYPE
target.dispatchEvent(new Event("q")) => true
EventTarget.prototype.addEventListener.call({}, "x", () => {}) => throws TypeError ERR_INVALID_THIS
EventTarget.prototype.dispatchEvent.call({}, new Event("x")) => throws TypeError ERR_INVALID_THIS
{ const o = []; const tt = new EventTarget(); tt.addEventListener("x", function (ev) { o.push(this === tt, ev.currentTarget === tt, ev.eventPhase); }); const ev = new Event("x"); tt.dispatchEvent(ev); o.push(ev.currentTarget, ev.eventPhase, ev.target === tt); o.join() } => "true,true,2,,0,true"
channel.port1.postMessage() => throws TypeError ERR_MISSING_ARGS
channel.port1.postMessage(1, 5) => throws TypeError ERR_INVALID_ARG_TYPE
channel.port1.postMessage(1, [5]) => throws TypeError ERR_INVALID_TRANSFER_OBJECT
channel.port1.postMessage(Symbol()) => throws DataCloneError 25
channel.port1.postMessage(() => {}) => throws DataCloneError 25
channel.port1.ref() => undefined
channel.port1.unref() => undefined
channel.port1.hasRef() => false
channel.port1.start() => undefined
channel.port1.close.length => 1
channel.port1.close(5) => undefined
channel.port2.on("x") => throws TypeError ERR_INVALID_ARG_TYPE
channel.port2.on("x", 5) => throws TypeError ERR_INVALID_ARG_TYPE
channel.port2.once("x") => throws TypeError ERR_INVALID_ARG_TYPE
channel.port2.off("x") => throws TypeError ERR_INVALID_ARG_TYPE
channel.port2.addListener("x", 5) => throws TypeError ERR_INVALID_ARG_TYPE
channel.port2.emit("message") => false
channel.port2.emit("message", 5) => false
channel.port2.emit("zz", 5) => false
channel.port2.listenerCount("x") => 0
channel.port2.eventNames().join() => ""
channel.port2.setMaxListeners(5) => [object MessagePort]
channel.port2.getMaxListeners() => 5
channel.port2.onmessage => null
channel.port2.onmessage = 5 => 5
channel.port2.removeAllListeners() === channel.port2 => true
MessagePort.prototype.postMessage.call({}, 1) => throws TypeError
MessagePort.prototype.close.call({}) => throws TypeError
MessagePort.prototype.ref.call({}) => throws TypeError
new MessagePort() => throws TypeError ERR_CONSTRUCT_CALL_INVALID
MessagePort() => throws TypeError
MessageChannel() => throws TypeError
new MessageChannel().port1 instanceof EventTarget => true
workerThreads.receiveMessageOnPort() => throws TypeError ERR_INVALID_ARG_TYPE
workerThreads.receiveMessageOnPort(5) => throws TypeError ERR_INVALID_ARG_TYPE
workerThreads.receiveMessageOnPort(null) => throws TypeError ERR_INVALID_ARG_TYPE
workerThreads.receiveMessageOnPort(broadcast) => undefined
workerThreads.getEnvironmentData() => undefined
workerThreads.markAsUntransferable(5) => undefined
new BroadcastChannel() => throws TypeError ERR_MISSING_ARGS
new BroadcastChannel(5).name => "5"
new BroadcastChannel(null).name => "null"
new BroadcastChannel(Symbol()) => throws TypeError
broadcast.postMessage() => throws TypeError ERR_MISSING_ARGS
broadcast.postMessage(Symbol()) => throws DataCloneError 25
broadcast.ref() === b => throws ReferenceError
broadcast.unref() === b => throws ReferenceError
broadcast.hasRef => undefined
broadcast.onmessage => null
broadcast.close() => undefined
broadcast.postMessage(1) => throws InvalidStateError 11
broadcast.ref() => [object BroadcastChannel]
BroadcastChannel.prototype.close.call({}) => throws TypeError
BroadcastChannel.prototype.name => throws TypeError
emitter.on() => throws TypeError ERR_INVALID_ARG_TYPE
emitter.on("x") => throws TypeError ERR_INVALID_ARG_TYPE
emitter.on("x", 5) => throws TypeError ERR_INVALID_ARG_TYPE
emitter.setMaxListeners() => throws TypeError ERR_INVALID_ARG_TYPE
emitter.setMaxListeners(-1) => throws RangeError ERR_OUT_OF_RANGE
emitter.setMaxListeners("x") => throws TypeError ERR_INVALID_ARG_TYPE
emitter.setMaxListeners(NaN) => throws RangeError ERR_OUT_OF_RANGE
emitter.setMaxListeners(3).getMaxListeners() => 3
emitter.emit() => false
emitter.emit("error") => throws Error ERR_UNHANDLED_ERROR
emitter.emit("error", 5) => throws Error ERR_UNHANDLED_ERROR
emitter.emit("error", new Error("x")) => throws Error
emitter.rawListeners("q").length => 0
{ const q = new EventEmitter(); const f = () => {}; q.once("x", f); [q.listeners("x")[0] === f, q.rawListeners("x")[0] === f, q.rawListeners("x")[0].listener === f, q.listenerCount("x", f), q.listenerCount("x", () => {})].join() } => "true,false,true,1,0"
{ const q = new EventEmitter(); let n = 0; q.once("x", () => n++); q.rawListeners("x")[0](); [n, q.listenerCount("x")].join() } => "1,0"
{ const q = new EventEmitter(); const o = []; q.on("newListener", (n, l) => o.push("new " + n)); q.on("removeListener", (n) => o.push("rm " + n)); const f = () => {}; q.on("a", f); q.off("a", f); q.once("b", f); q.emit("b"); o.join() } => "new removeListener,new a,rm a,new b,rm b"
emitter.eventNames().length => 0
EventEmitter.defaultMaxListeners => 10
events.getEventListeners(target, "none").length => 0
events.getEventListeners(5) => throws TypeError ERR_INVALID_ARG_TYPE
events.getEventListeners(emitter, "q").length => 0
events.getMaxListeners(emitter) => 3
events.getMaxListeners(target) => 10
events.getMaxListeners(5) => throws TypeError ERR_INVALID_ARG_TYPE
events.setMaxListeners(5, target) => undefined
events.setMaxListeners(-5, target) => throws RangeError ERR_OUT_OF_RANGE
events.listenerCount(emitter, "x") => 0
events.errorMonitor => Symbol(events.errorMonitor)
events.once.length => 2
EventEmitter.call({}) => undefined
EventEmitter.prototype.on.call({}, "x", () => {}) => [object Object]
new Worker() => throws TypeError ERR_INVALID_ARG_TYPE
new Worker("x") => throws TypeError ERR_WORKER_PATH
new Worker("", { eval: 5 }) => [object Object]
new Worker("", { eval: true, name: 5 }) => throws TypeError ERR_INVALID_ARG_TYPE
new Worker("", { eval: true, resourceLimits: 5 }) => [object Object]
new Worker("", { eval: true, env: 5 }) => throws TypeError ERR_INVALID_ARG_TYPE
new Worker("", { eval: true, argv: 5 }) => throws TypeError ERR_INVALID_ARG_TYPE
new Worker("", { eval: true, execArgv: 5 }) => throws TypeError ERR_INVALID_ARG_TYPE
new Worker("", { eval: true, workerData: Symbol() }) => throws DataCloneError 25
worker.ref() => undefined
worker.unref() => undefined
worker.threadId => 1
worker.postMessage() => throws TypeError ERR_MISSING_ARGS
worker.postMessage(1, 5) => throws TypeError ERR_INVALID_ARG_TYPE
worker.postMessage(Symbol()) => throws DataCloneError 25
worker.stdin => null
worker.hasRef => undefined
Worker.prototype.postMessage.call({}, 1) => throws TypeError
Worker.prototype.terminate.call({}) => throws TypeError
setTimeout() => throws TypeError ERR_INVALID_ARG_TYPE
setTimeout(5) => throws TypeError ERR_INVALID_ARG_TYPE
setTimeout("x") => throws TypeError ERR_INVALID_ARG_TYPE
setInterval(null) => throws TypeError ERR_INVALID_ARG_TYPE
setImmediate() => throws TypeError ERR_INVALID_ARG_TYPE
setImmediate("x") => throws TypeError ERR_INVALID_ARG_TYPE
queueMicrotask() => throws TypeError ERR_INVALID_ARG_TYPE
queueMicrotask(5) => throws TypeError ERR_INVALID_ARG_TYPE
clearTimeout() => undefined
clearTimeout(5) => undefined
clearTimeout("x") => undefined
clearTimeout({}) => undefined
clearTimeout(null) => undefined
clearTimeout(Symbol()) => undefined
clearInterval(timeout) => undefined
clearImmediate(timeout) => undefined
clearImmediate({}) => undefined
timeout.ref() === timeout => true
timeout.unref() === timeout => true
timeout.hasRef() => false
timeout.refresh() === timeout => true
typeof timeout[Symbol.toPrimitive]() => "number"
timeout.close() === timeout => true
immediate.ref() === immediate => true
immediate.hasRef() => true
immediate.refresh => undefined
immediate.close => undefined
immediate[Symbol.toPrimitive] => undefined
Object.prototype.toString.call(timeout) => "[object Object]"
setTimeout(() => {}, Symbol()) => throws TypeError
setTimeout(() => {}, 5n) => throws TypeError
structuredClone() => throws TypeError ERR_MISSING_ARGS
structuredClone(1, 5) => throws TypeError ERR_INVALID_ARG_TYPE
structuredClone(1, "s") => throws TypeError ERR_INVALID_ARG_TYPE
structuredClone(1, null) => 1
structuredClone(1, {transfer: 5}) => throws TypeError ERR_INVALID_ARG_TYPE
structuredClone(Symbol()) => throws DataCloneError 25
structuredClone(() => {}) => throws DataCloneError 25
structuredClone(new WeakMap()) => throws DataCloneError 25
atob() => throws TypeError ERR_MISSING_ARGS
atob("*") => throws InvalidCharacterError 5
atob("YQ") => "a"
atob(" Y Q = = ") => "a"
atob(Symbol()) => throws TypeError
btoa() => throws TypeError ERR_MISSING_ARGS
btoa("é") => "6Q=="
btoa("€") => throws InvalidCharacterError 5
btoa(null) => "bnVsbA=="
new TextEncoder().encode().length => 0
new TextEncoder().encode(null).length => 4
new TextEncoder().encode("\ud800").join() => "239,191,189"
new TextEncoder().encode("a\udc00b").join() => "97,239,191,189,98"
new TextEncoder().encode("\ud83d\ude00").join() => "240,159,152,128"
new TextEncoder().encode(Symbol()) => throws TypeError
new TextEncoder().encode({toString() { return "\ud800" }}).join() => "239,191,189"
{ const u = new Uint8Array(5); const r = new TextEncoder().encodeInto("\ud800", u); [r.read, r.written, u.join("-")].join() } => "1,3,239-191-189-0-0"
{ const u = new Uint8Array(2); const r = new TextEncoder().encodeInto("\ud800", u); [r.read, r.written, u.join("-")].join() } => "0,0,0-0"
{ const u = new Uint8Array(8); const r = new TextEncoder().encodeInto("a\ud800b\udc00", u); [r.read, r.written, u.join("-")].join() } => "4,8,97-239-191-189-98-239-191-189"
new TextEncoder().encodeInto() => throws TypeError ERR_MISSING_ARGS
new TextEncoder().encodeInto("x") => throws TypeError ERR_MISSING_ARGS
new TextEncoder().encodeInto("x", 5) => throws TypeError ERR_INVALID_ARG_TYPE
new TextEncoder().encodeInto("x", new Uint16Array(1)) => throws TypeError ERR_INVALID_ARG_TYPE
new TextEncoder().encodeInto(5, new Uint8Array(4)).read => 1
new TextEncoder("utf-16").encoding => "utf-8"
TextEncoder.prototype.encode.call({}, "x") => throws TypeError ERR_INVALID_THIS
TextEncoder.prototype.encoding => throws TypeError ERR_INVALID_THIS
new TextDecoder("latin1x") => throws RangeError ERR_ENCODING_NOT_SUPPORTED
new TextDecoder("utf-8", 5) => throws TypeError ERR_INVALID_ARG_TYPE
new TextDecoder("utf-8", null).fatal => false
new TextDecoder("utf-8", {fatal: 1}).fatal => true
new TextDecoder().decode(5) => throws TypeError ERR_INVALID_ARG_TYPE
new TextDecoder().decode(null) => throws TypeError ERR_INVALID_ARG_TYPE
new TextDecoder().decode("x") => throws TypeError ERR_INVALID_ARG_TYPE
new TextDecoder().decode(new DataView(new ArrayBuffer(2))).length => 2
new TextDecoder(undefined).encoding => "utf-8"
new TextDecoder(null) => throws RangeError ERR_ENCODING_NOT_SUPPORTED
new TextDecoder("utf-8", {fatal: true}).decode(new Uint8Array([255])) => throws TypeError ERR_ENCODING_INVALID_ENCODED_DATA
TextDecoder.prototype.decode.call({}) => throws TypeError ERR_INVALID_THIS
TextDecoder.prototype.encoding => throws TypeError ERR_INVALID_THIS
new URL() => throws TypeError ERR_MISSING_ARGS
new URL("x") => throws TypeError ERR_INVALID_URL
new URL("http://a", "b") => throws TypeError ERR_INVALID_URL
URL.prototype.href => throws TypeError
URL.prototype.toString.call({}) => throws TypeError
URL.parse("x") => null
URL.canParse() => throws TypeError ERR_MISSING_ARGS
URL.canParse("http://a") => true
new Blob(5) => throws TypeError ERR_INVALID_ARG_TYPE
new Blob("x") => throws TypeError ERR_INVALID_ARG_TYPE
new Blob(null) => throws TypeError ERR_INVALID_ARG_TYPE
new Blob([5]) => [object Blob]
new Blob(["ab"], {type: "T/X"}).type => "t/x"
new Blob(["é"]).size => 2
new Blob([], 5) => throws TypeError ERR_INVALID_ARG_TYPE
Blob() => throws TypeError
Blob.prototype.text.call({}) => [object Promise]
URL.createObjectURL(5) => throws TypeError ERR_INVALID_ARG_TYPE
new DOMException().name => "Error"
new DOMException("m", "AbortError").code => 20
new DOMException(Symbol()) => throws TypeError
new DOMException("m", null).name => "null"
DOMException.prototype.name => throws TypeError ERR_INVALID_THIS
DOMException.prototype.code => throws TypeError ERR_INVALID_THIS
{ const x = new DOMException("m"); x.stack = 5; [x.stack, Object.keys(x).join()].join("|") } => "5|"
{ const x = new Error("m"); x.stack = 5; [x.stack, Object.keys(x).join(), JSON.stringify(x)].join("|") } => "5||{}"
{ "use strict"; const x = new TypeError("m"); x.stack = "s"; [x.stack, Object.getOwnPropertyDescriptor(x, "stack")?.enumerable].join("|") } => "s|false"
{ const x = new Error("m"); x.stack = undefined; [x.stack, Object.keys(x).join()].join("|") } => "|"
{ const x = Object.create(new Error("m")); x.stack = "s"; [x.stack].join("|") } => "s"
{ class E extends Error {} const x = new E("m"); x.stack = "s"; [x.stack, Object.keys(x).join()].join("|") } => "s|"
{ const x = {}; Error.captureStackTrace(x); x.stack = "s"; [x.stack, Object.keys(x).join()].join("|") } => "s|"
{ "use strict"; const x = Object.preventExtensions(new Error("m")); x.stack = "z"; typeof x.stack } => "string"
{ const x = new Error("m"); delete x.stack; typeof x.stack } => "string"
{ const x = new AggregateError([1]); x.stack = "s"; Object.keys(x).join() } => ""
Object.keys(new Error("m")).join() => ""
Error.captureStackTrace(5) => throws TypeError
Error.captureStackTrace() => throws TypeError
util.inherits(5, 5) => throws TypeError ERR_INVALID_ARG_TYPE
util.inherits(function () {}, {}) => throws TypeError ERR_INVALID_ARG_TYPE
util.inherits(function () {}, Object.create(null)) => throws TypeError ERR_INVALID_ARG_TYPE
util.promisify() => throws TypeError ERR_INVALID_ARG_TYPE
util.promisify(5) => throws TypeError ERR_INVALID_ARG_TYPE
util.format() => ""
util.format("%s", Symbol("x")) => "Symbol(x)"
util.inspect() => "undefined"
util.isDeepStrictEqual() => true
util.types.isMap() => false
path.join(5) => throws TypeError ERR_INVALID_ARG_TYPE
path.resolve(5) => throws TypeError ERR_INVALID_ARG_TYPE
path.basename() => throws TypeError ERR_INVALID_ARG_TYPE
path.dirname(5) => throws TypeError ERR_INVALID_ARG_TYPE
path.extname(5) => throws TypeError ERR_INVALID_ARG_TYPE
path.normalize(5) => throws TypeError ERR_INVALID_ARG_TYPE
path.isAbsolute(5) => throws TypeError ERR_INVALID_ARG_TYPE
path.relative(5, 5) => throws TypeError ERR_INVALID_ARG_TYPE
path.parse(5) => throws TypeError ERR_INVALID_ARG_TYPE
path.format(5) => throws TypeError ERR_INVALID_ARG_TYPE
path.format() => throws TypeError ERR_INVALID_ARG_TYPE
url.fileURLToPath() => throws TypeError ERR_INVALID_ARG_TYPE
url.fileURLToPath(5) => throws TypeError ERR_INVALID_ARG_TYPE
url.fileURLToPath("http://x") => throws TypeError ERR_INVALID_URL_SCHEME
url.pathToFileURL() => throws TypeError ERR_INVALID_ARG_TYPE
url.pathToFileURL(5) => throws TypeError ERR_INVALID_ARG_TYPE
createRequire() => throws TypeError ERR_INVALID_ARG_VALUE
createRequire("x") => throws TypeError ERR_INVALID_ARG_VALUE
process.nextTick() => throws TypeError ERR_INVALID_ARG_TYPE
process.nextTick(5) => throws TypeError ERR_INVALID_ARG_TYPE
process.hrtime(5) => throws TypeError ERR_INVALID_ARG_TYPE
process.hrtime([1]) => throws RangeError ERR_OUT_OF_RANGE
process.emitWarning() => throws TypeError ERR_INVALID_ARG_TYPE
process.emitWarning(5) => throws TypeError ERR_INVALID_ARG_TYPE
process.stdout.write() => throws TypeError ERR_INVALID_ARG_TYPE
process.stdout.write(5) => throws TypeError ERR_INVALID_ARG_TYPE
process.stdout.write(null) => throws TypeError ERR_STREAM_NULL_VALUES
process.uptime() > 0 => true
process.env.X = undefined => undefined
process.env.X => "undefined"
process.env.Y = Symbol() => throws TypeError
delete process.env.Z => true
"X" in process.env => true
Object.prototype.toString.call(process) => "[object process]"
Object.prototype.toString.call(globalThis) => "[object global]"
Object.prototype.toString.call(console) => "[object console]"
Object.prototype.toString.call(performance) => "[object Performance]"
Object.prototype.toString.call(navigator) => "[object Navigator]"
performance.timeOrigin > 0 => true
{ const one = new AbortController(), any = AbortSignal.any([one.signal]), seen = []; any.onabort = () => seen.push("any"); one.signal.onabort = () => seen.push("source " + any.aborted); one.abort(7); [...seen, any.reason].join() } => "source true,any,7"
{ const one = new AbortController(), two = new AbortController(), any = AbortSignal.any([two.signal, one.signal]); one.abort(1); two.abort(2); any.reason } => 1
{ const one = new AbortController(), any = AbortSignal.any([one.signal]), all = AbortSignal.any([any]), seen = []; for (const [name, each] of Object.entries({ all, any, source: one.signal })) each.onabort = () => seen.push(name); one.abort(); seen.join() } => "source,any,all"
{ const one = new AbortController(), seen = []; one.signal.addEventListener("abort", () => seen.push(1)); one.abort(); one.abort(); [seen, one.signal.reason.name, one.signal.reason.code].join() } => "1,AbortError,20"
{ const seen = []; const both = new EventTarget(); both.addEventListener("x", f = () => seen.push(1)); both.addEventListener("x", f, true); both.addEventListener("x", f, { capture: true }); both.dispatchEvent(new Event("x")); both.removeEventListener("x", f); both.dispatchEvent(new Event("x")); seen.length } => 3
{ const some = new EventEmitter(), seen = []; some.on(events.errorMonitor, (error) => seen.push("monitor " + error)); some.on("error", () => seen.push("error")); some.emit("error", 1); seen.join() } => "monitor 1,error"
{ const some = new EventEmitter(); let seen; some.on(events.errorMonitor, (error) => (seen = error)); try { some.emit("error", new RangeError("x")) } catch (error) { [error.name, seen === error].join() } } => "RangeError,true"
{ const some = new EventEmitter(), seen = []; some.on("removeListener", (name) => seen.push(name)); some.on("a", f); some.once("b", f); some.removeAllListeners(); [...seen, some.eventNames().length].join() } => "a,b,0"
EventEmitter.defaultMaxListeners = -1 => throws RangeError ERR_OUT_OF_RANGE
EventEmitter.defaultMaxListeners = 11, new EventEmitter().getMaxListeners() => 11
structuredClone(Object.defineProperty(new Error("x"), "message", { get() { return "got" } })).message => ""
structuredClone(Object.assign(new Error("x"), { message: 5 })).message => "5"
structuredClone(Object.assign(new Error("x"), { message: undefined })).message => "undefined"
structuredClone(Object.assign(new Error("x"), { message: { toString() { return "text" } } })).message => "text"
structuredClone(Object.assign(new Error("x"), { message: Symbol() })) => throws TypeError
structuredClone(Object.defineProperty(new Error("x"), "name", { get() { throw new RangeError("y") } })) => throws RangeError
structuredClone(Object.assign(new Error("x"), { name: "TypeError" })) instanceof TypeError => true
structuredClone(Object.assign(new Error("x"), { name: 5 })).name => "Error"
new ErrorEvent("e").message => ""
new ErrorEvent("e", { lineno: -1, colno: 1.5, message: 5 }).lineno => 4294967295
new ErrorEvent() => throws TypeError ERR_MISSING_ARGS
new PromiseRejectionEvent("p") => throws TypeError ERR_MISSING_ARGS
new PromiseRejectionEvent("p", {}) => throws TypeError ERR_MISSING_ARGS
new PromiseRejectionEvent("p", { promise: 1, reason: 2 }).reason => 2
new globalThis.Worker() => throws TypeError ERR_MISSING_ARGS
new globalThis.Worker("data:,", { type: "other" }) => throws TypeError
workerThreads.locks.request("x", 5).catch(f) instanceof Promise => true
workerThreads.locks.request.length => 2
Object.prototype.toString.call(workerThreads.locks) => "[object LockManager]"
new workerThreads.locks.constructor() => throws TypeError ERR_ILLEGAL_CONSTRUCTOR
addEventListener("x") => throws TypeError ERR_MISSING_ARGS
reportError() => throws TypeError ERR_MISSING_ARGS
`;
for (const row of rows.trim().split("\n")) {
  const at = row.lastIndexOf(" => ");
  const [text, expected] = [row.slice(0, at), row.slice(at + 4)];
  const seen = outcome(text);
  console.log(seen === expected ? `ok  ${text}: ${seen}` : `BAD ${text}: ${seen}, not ${expected}`);
}
process.exitCode = 0;
process.exit();
