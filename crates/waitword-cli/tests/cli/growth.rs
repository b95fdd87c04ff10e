//! Growable memory between the agents of a program: views that were there before see what others have grown, after each way
//! that the host has to synchronize. All operations on views: `growth.rs` in the tests of `waitword-quickjs`.

use crate::program::run;

/// A buffer with views of all kinds, a word, and a question that tells which view does not see 32 bytes.
const VIEWS: &str = "
    const g = new SharedArrayBuffer(16, { maxByteLength: 64 }), w = new Int32Array(new SharedArrayBuffer(16));
    const t = new Int32Array(g), u = new Uint8Array(g, 8), d = new DataView(g);
    const seen = () => [t.length, t[6], [...t].length, 7 in t, u.length, d.byteLength].join();
    const { Worker, receiveMessageOnPort, workerData } = require('node:worker_threads');
    const grower = (then) => new Worker(`
        const { parentPort, workerData: { g, w, port } } = require('node:worker_threads');
        ${then}`, { eval: true, workerData: { g, w }, });
";

const GROWN: &str = "8,0,8,true,24,32";

fn program(name: &'static str, script: &str, lines: usize) {
    run(name, &format!("{VIEWS}{script}")).with_code(0).printed(&vec![GROWN; lines]).quietly();
}

#[test]
fn clones_of_a_buffer_grow_together() {
    program("growth_clones", "structuredClone(g).grow(32); console.log(seen());", 1);
    let by_port = "
        const { port1, port2 } = new MessageChannel();
        port1.postMessage(g);
        receiveMessageOnPort(port2).message.grow(32);
        console.log(seen());";
    program("growth_ports", by_port, 1);
}

#[test]
fn a_worker_grows_and_stores() {
    let script = "
        grower('g.grow(32); Atomics.store(w, 0, 1);');
        while (Atomics.load(w, 0) === 0);
        console.log(seen());";
    program("growth_store", script, 1);
}

#[test]
fn a_worker_grows_and_notifies() {
    let script = "
        grower('g.grow(32); while (Atomics.notify(w, 0) === 0);');
        Atomics.waitAsync(w, 0, 0).value.then(() => console.log(seen()));";
    program("growth_notify", script, 1);
}

#[test]
fn a_worker_grows_and_posts() {
    let script = "
        const worker = grower('g.grow(32); parentPort.postMessage(0);');
        worker.on('message', () => console.log(seen()));";
    program("growth_message", script, 1);
    let script = "
        const { port1, port2 } = new MessageChannel();
        const worker = grower('parentPort.on(\"message\", port => { g.grow(32); port.postMessage(0); parentPort.close(); });');
        worker.postMessage(port2, [port2]);
        while (!receiveMessageOnPort(port1));
        console.log(seen());
        port1.close();";
    program("growth_receive", script, 1);
    let script = "
        const channel = new BroadcastChannel('growth');
        channel.onmessage = () => { console.log(seen()); channel.close(); };
        grower('const c = new BroadcastChannel(\"growth\"); g.grow(32); c.postMessage(0); c.close();');";
    program("growth_broadcast", script, 1);
}

#[test]
fn the_end_of_a_worker_tells_of_what_it_has_grown() {
    program("growth_exit", "grower('g.grow(32)').on('exit', () => console.log(seen()));", 1);
}

/// `t.length` is a sequentially consistent load in ECMA-262: a loop may wait for it.
#[test]
fn a_loop_that_only_reads_ends() {
    program("growth_loop", "grower('g.grow(32)'); while (t.length === 4); console.log(seen());", 1);
}
