// Locks by name are for all agents.
//> [object LockManager] [object Lock]exclusive
//> RangeError undefined
//> null
//> 3 shared,exclusive 1
//> EvalError undefined
//> released shared,exclusive
//> two exclusive null
//> stolen
//> inherited
//> AbortError 20
//> NotSupportedError 9
//> NotSupportedError 9
//> TypeError undefined
//> NotSupportedError 9
//> TypeError ERR_INVALID_ARG_TYPE
//> { held: [], pending: [] }
//> TypeError ERR_ILLEGAL_CONSTRUCTOR

const { Worker, locks, parentPort } = require("worker_threads");
const source = `const { locks, parentPort } = require("worker_threads");
  parentPort.on("message", (name) => {
    locks.request(name, (lock) => (parentPort.postMessage(lock.name + " " + lock.mode), new Promise(() => {}))).catch(() => {});
  });`;
const worker = new Worker(source, { eval: true });
const heard = () => new Promise((resolve) => worker.once("message", resolve));
const why = ({ name, code }) => console.log(name, code);
(async () => {
  console.log(String(locks), await locks.request("one", async (lock) => String(lock) + lock.mode));
  await locks.request("one", () => Promise.reject(new RangeError())).catch(why);
  // In the order of the requests; shared ones together.
  const order = [];
  const note = (what) => async () => order.push(what);
  let release;
  const first = locks.request("one", () => new Promise((resolve) => (release = resolve)));
  const rest = [locks.request("one", { mode: "shared" }, note("shared")), locks.request("one", note("exclusive"))];
  console.log(await locks.request("one", { ifAvailable: true }, (lock) => lock));
  const { held, pending } = await locks.query();
  console.log(held.length + pending.length, pending.map(({ mode }) => mode).join(), new Set([...held, ...pending].map((each) => each.clientId)).size);
  // One that gives up.
  const controller = new AbortController();
  const given = locks.request("one", { signal: controller.signal }, note("given up"));
  controller.abort(new EvalError());
  await given.catch(why);
  for (; !release; ) await new Promise((resolve) => setTimeout(resolve));
  release("released");
  console.log(await first, (await Promise.all(rest)) && order.join());
  // A worker holds it until it ends, or somebody steals it.
  let answer = heard();
  worker.postMessage("two");
  console.log(await answer, await locks.request("two", { ifAvailable: true }, (lock) => lock));
  console.log(await locks.request("two", { steal: true }, () => "stolen"));
  answer = heard();
  worker.postMessage("two");
  await answer;
  const asked = locks.request("two", () => "inherited");
  worker.terminate();
  console.log(await asked);
  // One that is stolen is rejected at once.
  const robbed = locks.request("three", () => new Promise(() => {})).catch(why);
  for (; !(await locks.query()).held.length; );
  await locks.request("three", { steal: true }, () => {});
  await robbed;
  for (const settings of [{ ifAvailable: true, steal: true }, { mode: "shared", steal: true }, { mode: "other" }]) {
    await locks.request("four", settings, () => {}).catch(why);
  }
  await locks.request("-", () => {}).catch(why);
  await locks.request("four").catch(why);
  console.log(await locks.query());
  try { new locks.constructor(); } catch (error) { why(error); }
})();
