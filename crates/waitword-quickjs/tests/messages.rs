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
    let graph = "{ a: [1, -0, 2.5, 'ü', null, undefined, true], big: 2n ** 70n, when: new Date(5) }";
    receive(&js, &message(&js, graph));
    let shown = "[got.a.length, Object.is(got.a[1], -0), got.a[3], got.a[5], got.big, +got.when].join()";
    assert_eq!(text(&js, shown), "7,true,ü,,1180591620717411303424,5");
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

/// The engine's writer calls getters of arrays while it holds bare pointers into what surrounds them.
#[test]
fn no_getter_runs_while_writing() {
    let js = agent();
    js.eval(
        "t.js",
        "var calls = 0, around = { array: [0] };
         Object.defineProperty(around.array, 0, { get() { calls++; delete around.array; return 0; } });
         var hole = [,];
         Object.defineProperty(Array.prototype, 0, { get() { calls++; }, configurable: true });",
    )
    .unwrap();
    for expression in
        ["around", "[around]", "hole", "[[hole]]", "new Map([[1, around]])", "new Set([around])"]
    {
        let value = js.realm().eval("t.js", &format!("({expression})")).unwrap();
        let error = js.realm().write_message(&value).unwrap_err();
        assert!(js.realm().describe(&error).message.starts_with("TypeError"), "{expression}");
    }
    assert_eq!(text(&js, "String(calls)"), "0");
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
