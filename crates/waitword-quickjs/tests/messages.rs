//! Structured clone between agents.

mod common;

use common::{agent, text};
use waitword_quickjs::{JsAgent, Message, SharedBlock};

/// Writes the value of an expression.
#[track_caller]
fn message(js: &JsAgent, expression: &str) -> Message {
    let realm = js.realm();
    let value = realm.eval("message.js", &format!("({expression})"));
    value
        .and_then(|value| realm.write_message(&value))
        .map_err(|exception| realm.describe(&exception))
        .unwrap()
}

/// Reads a message into the global `got`.
fn receive(js: &JsAgent, message: &Message) {
    let value =
        js.realm().read_message(message).map_err(|exception| js.realm().describe(&exception)).unwrap();
    js.set_global("got", value).unwrap();
}

#[test]
fn plain_data_is_copied() {
    let js = agent();
    let graph = "{ a: [1, -0, 2.5, 'ü', null, undefined, true], big: 2n ** 70n, when: new Date(5), map: new Map([[1, new Set([2])]]) }";
    receive(&js, &message(&js, graph));
    let shown = "[got.a.length, Object.is(got.a[1], -0), got.a[3], got.a[5], got.big, +got.when, got.map.get(1).has(2)].join()";
    assert_eq!(text(&js, shown), "7,true,ü,,1180591620717411303424,5,true");
}

#[test]
fn graphs_keep_their_shape() {
    let js = agent();
    js.eval("t.js", "var cycle = { twice: [{}] }; cycle.self = cycle; cycle.twice.push(cycle.twice[0]);")
        .unwrap();
    receive(&js, &message(&js, "cycle"));
    assert_eq!(
        text(&js, "[got.self === got, got.twice[0] === got.twice[1], got !== cycle].join()"),
        "true,true,true"
    );
}

#[test]
fn a_message_can_cross_threads_and_be_read_by_many() {
    let message = message(&agent(), "{ text: 'to all' }");
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let message = message.clone();
            std::thread::spawn(move || {
                let js = agent();
                receive(&js, &message);
                text(&js, "got.text")
            })
        })
        .collect();
    for reader in readers {
        assert_eq!(reader.join().unwrap(), "to all");
    }
}

#[test]
fn shared_memory_is_shared() {
    let (js, block) = (agent(), SharedBlock::new(8).unwrap());
    js.set_global("sab", block.clone()).unwrap();
    js.eval("t.js", "var view = new Int32Array(sab)").unwrap();
    let message = message(&js, "[sab, view]");
    assert!(message.blocks().iter().all(|each| *each == block));
    // The sender may be gone, and its objects with it.
    drop(js);
    let js = agent();
    receive(&js, &message);
    drop(message);
    js.eval("t.js", "got[1][1] = 7").unwrap();
    assert_eq!(text(&js, "String([got[0] === got[1].buffer, new Int32Array(got[0])[1]])"), "true,7");
    drop(js);
    let other = agent();
    other.set_global("sab", block).unwrap();
    assert_eq!(text(&other, "String(new Int32Array(sab)[1])"), "7");
}

#[test]
fn memory_made_by_a_getter_while_writing_stays() {
    let js = agent();
    js.eval(
        "t.js",
        "var fleeting = [], get = () => { let s = new SharedArrayBuffer(1 << 20); new Int32Array(s)[0] = 7; return s; };
         Object.defineProperty(fleeting, 0, { get });
         // If the first one's memory is free by now, this one gets it.
         var kept, next = () => { kept = new SharedArrayBuffer(1 << 20); new Int32Array(kept)[0] = 9; return 0; };
         Object.defineProperty(fleeting, 1, { get: next });",
    )
    .unwrap();
    let message = message(&js, "fleeting");
    js.runtime().gc();
    receive(&js, &message);
    assert_eq!(text(&js, "String(new Int32Array(got[0])[0])"), "7");
}

#[test]
fn what_cannot_be_copied_is_an_error() {
    let js = agent();
    for expression in ["() => 1", "{ deep: [() => 1] }", "{ get x() { return 1; } }"] {
        let value = js.realm().eval("t.js", &format!("({expression})")).unwrap();
        let error = js.realm().write_message(&value).unwrap_err();
        assert!(js.realm().describe(&error).message.starts_with("TypeError"), "{expression}");
    }
}
