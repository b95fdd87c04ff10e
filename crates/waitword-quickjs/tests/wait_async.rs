//! `Atomics.waitAsync` in one agent: when its promises are resolved. What it returns: `tables/functions.js`.

mod common;

use common::{agent, agent_on, text};
use waitword_core::{notify_all, notify_one};
use waitword_quickjs::{JsAgent, JsAgentOptions, RuntimeOptions, SharedBlock};

const NAMES: &str = "var v = new Int32Array(new SharedArrayBuffer(16)), log = [];";

fn prepared() -> JsAgent {
    let js = agent();
    js.eval("names.js", NAMES).unwrap();
    js
}

#[test]
fn a_notified_promise_gives_ok_and_one_that_expired_timed_out() {
    let js = prepared();
    let source = "Atomics.waitAsync(v, 0, 0).value.then(o => log.push('a ' + o));
        Atomics.waitAsync(v, 1, 0, 1).value.then(o => log.push('b ' + o));
        String(Atomics.notify(v, 0))";
    assert_eq!(text(&js, source), "1");
    js.run().unwrap();
    assert_eq!(text(&js, "log.join()"), "a ok,b timed-out");
    assert_eq!(text(&js, "String(Atomics.notify(v, 1))"), "0", "an expired wait has left its queue");
}

#[test]
fn deadlines_come_in_their_order() {
    let js = prepared();
    js.eval(
        "t.js",
        "for (const ms of [9, 3, 6]) Atomics.waitAsync(v, 0, 0, ms).value.then(o => log.push(ms + o));",
    )
    .unwrap();
    let pending = js.pending();
    assert_eq!(pending.len(), 3);
    // The longest is due before the shortest where milliseconds pass between the calls.
    let mut due: Vec<_> =
        pending.iter().zip([9, 3, 6]).map(|(wait, ms)| (wait.deadline.unwrap(), ms)).collect();
    due.sort();
    assert_eq!(js.next_deadline(), Some(due[0].0));
    js.run().unwrap();
    let expected: Vec<_> = due.iter().map(|(_, ms)| format!("{ms}timed-out")).collect();
    assert_eq!(text(&js, "log.join()"), expected.join(","));
    assert!(js.next_deadline().is_none() && js.pending().is_empty());
}

#[test]
fn own_promises_are_resolved_before_notify_returns() {
    let js = prepared();
    let source = "Atomics.waitAsync(v, 0, 0).value.then(() => log.push('w'));
        Atomics.notify(v, 0);
        Promise.resolve().then(() => log.push('m'));";
    js.eval("t.js", source).unwrap();
    js.run_microtasks().unwrap();
    assert_eq!(text(&js, "log.join()"), "w,m");
}

#[test]
fn own_promises_are_resolved_in_the_order_of_the_queue() {
    let js = prepared();
    let source = "for (let i = 0; i < 40; i++) Atomics.waitAsync(v, 0, 0).value.then(() => log.push(i));
        Atomics.notify(v, 0, 10); Atomics.notify(v, 0);";
    js.eval("t.js", source).unwrap();
    js.run().unwrap();
    assert_eq!(text(&js, "String(log.length === 40 && log.every((e, i) => e === i))"), "true");
}

#[test]
fn each_promise_that_another_agent_notified_is_a_job_of_its_own() {
    let block = SharedBlock::new(16).unwrap();
    let js = agent_on(&block);
    let source = "var log = [];
        for (const n of ['a', 'b', 'c']) Atomics.waitAsync(i32, 0, 0).value.then(() => log.push(n)).then(() => log.push(n + '+'));";
    js.eval("t.js", source).unwrap();
    let word = block.i32(0).unwrap();
    let notified = std::thread::spawn(move || notify_all(&word)).join().unwrap();
    assert_eq!(notified, 3);
    assert_eq!(text(&js, "log.join()"), "", "nothing is resolved behind the agent's back");
    assert!(js.settle_one().unwrap());
    js.run_microtasks().unwrap();
    assert_eq!(text(&js, "log.join()"), "a,a+");
    js.run().unwrap();
    assert_eq!(text(&js, "log.join()"), "a,a+,b,b+,c,c+");
    assert!(!js.settle_one().unwrap());
}

#[test]
fn scripts_cannot_change_the_promises() {
    let js = prepared();
    let source = "var then = Promise.prototype.then, RealPromise = Promise;
        Promise = function () { throw new Error('patched'); };
        RealPromise.prototype.then = () => { throw new Error('patched'); };
        Object.defineProperty(RealPromise.prototype, 'constructor', { get() { log.push('constructor'); return RealPromise; } });
        Object.defineProperty(RealPromise, Symbol.species, { get() { log.push('species'); return undefined; } });
        String.prototype.then = () => log.push('thenable');
        Object.prototype.then = () => log.push('thenable');
        Object.defineProperty(Object.prototype, 'async', { set() { log.push('setter'); } });
        Object.defineProperty(Object.prototype, 'value', { set() { log.push('setter'); } });
        var p = Atomics.waitAsync(v, 0, 0).value;
        Atomics.notify(v, 0);
        log.join()";
    assert_eq!(text(&js, source), "");
    js.run().unwrap();
    let settled = "delete RealPromise.prototype.constructor; then.call(p, o => log.push(o)); ''";
    assert_eq!(text(&js, settled), "");
    js.run().unwrap();
    assert_eq!(text(&js, "log.join()"), "ok");
}

#[test]
fn promises_that_scripts_dropped_still_run_their_reactions() {
    let js = prepared();
    js.eval("t.js", "Atomics.waitAsync(v, 0, 0, 1).value.then(o => log.push(o)); v = null;").unwrap();
    js.runtime().gc();
    js.run().unwrap();
    assert_eq!(text(&js, "log.join()"), "timed-out");
}

#[test]
fn waits_end_with_their_agent() {
    let block = SharedBlock::new(16).unwrap();
    let js = agent_on(&block);
    js.eval("t.js", "for (let i = 0; i < 3; i++) Atomics.waitAsync(i32, 0, 0, i ? 1e9 : Infinity);").unwrap();
    let word = block.i32(0).unwrap();
    assert_eq!(block.table().waiters(&*word), 3);
    drop(js);
    assert_eq!(notify_one(&word), 0, "a dead agent's waiter does not eat a notify");
}

#[test]
fn point_33_nothing_stays_queued_when_memory_runs_out() {
    let block = SharedBlock::new(16).unwrap();
    let options = JsAgentOptions {
        runtime: RuntimeOptions { memory_limit: Some(1 << 20), ..RuntimeOptions::default() },
        ..JsAgentOptions::default()
    };
    let js = JsAgent::new(&options).unwrap();
    js.set_global("sab", block.clone()).unwrap();
    // Memory runs out at many different places of waitAsync, because what is left differs each time.
    let source = "var v = new Int32Array(sab), queued = 0, failed = 0, hoard = [];
        for (let round = 0; round < 40; round++) {
            try { for (;;) hoard.push(new ArrayBuffer(64)); } catch {}
            hoard.length -= round % 20;
            try { for (;;) { Atomics.waitAsync(v, 0, 0); queued++; } } catch { failed++; }
            if (Atomics.notify(v, 0) !== queued) throw new Error('a failed wait stayed in the queue');
            queued = 0;
            hoard.length = 0;
            try { for (;;) hoard.push(new ArrayBuffer(64)); } catch {}
            hoard.length -= round % 40;
            for (let i = 0; i < 5; i++) try { Atomics.waitAsync(v, 1, 0); queued++; } catch { failed++; }
            hoard.length = 0;
            if (Atomics.notify(v, 1) !== queued) throw new Error('a failed wait stayed in the queue');
            queued = 0;
        }
        // The reserve lets the few of the second kind through.
        String(failed >= 40)";
    assert_eq!(text(&js, source), "true");
}

#[test]
fn every_realm_waits_in_the_same_queue() {
    let js = agent();
    let other = js.new_realm().unwrap();
    js.realm().set(&js.realm().global(), "other", &other.global()).unwrap();
    let source = "var v = new Int32Array(new SharedArrayBuffer(4)), seen = [];
        other.Atomics.waitAsync(v, 0, 0).value.then(o => seen.push('other ' + o));
        Atomics.waitAsync(new other.Int32Array(v.buffer), 0, 0).value.then(o => seen.push('main ' + o));
        String(Atomics.notify(v, 0))";
    assert_eq!(text(&js, source), "2");
    js.run().unwrap();
    assert_eq!(text(&js, "seen.join()"), "other ok,main ok");
}
