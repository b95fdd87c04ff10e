//! A Rust program that runs scripts: values in and out, native functions, errors, limits.

mod common;

use std::cell::RefCell;
use std::rc::Rc;

use common::{agent, agent_on, agent_within, text, thrown};
use waitword_agents::Timeout;
use waitword_quickjs::{FromJs, JsAgent, JsValue, SharedBlock, WaitObserver};

#[test]
fn values_come_out_as_rust_values() {
    let js = agent();
    let eval = |source: &str| js.eval("t.js", source).unwrap();
    assert!(matches!(eval("undefined"), JsValue::Undefined));
    assert!(matches!(eval("null"), JsValue::Null));
    assert!(matches!(eval("1 < 2"), JsValue::Bool(true)));
    assert!(matches!(eval("6 * 7"), JsValue::Number(42.0)));
    assert!(matches!(eval("2 ** 40"), JsValue::Number(n) if n == 2_f64.powi(40)));
    assert!(matches!(eval("NaN"), JsValue::Number(n) if n.is_nan()));
    assert!(matches!(eval("-0"), JsValue::Number(n) if n == 0.0 && n.is_sign_negative()));
    assert!(matches!(eval("-(2n ** 100n)"), JsValue::BigInt(n) if n == -(1 << 100)));
    assert!(matches!(eval("2n ** 200n"), JsValue::Other(n) if n.is_bigint()));
    assert_eq!(eval("'a\\0ü' + '😀'").as_str(), Some("a\0ü😀"));
    assert!(eval("'\\ud800'").as_str().unwrap().contains('\u{fffd}'));
    assert!(matches!(eval("({})"), JsValue::Other(object) if object.is_object()));
}

#[test]
fn rust_values_go_in() {
    let js = agent();
    js.set_global("flag", true).unwrap();
    js.set_global("number", 0.5).unwrap();
    js.set_global("integer", -7).unwrap();
    js.set_global("big", i64::MIN).unwrap();
    js.set_global("word", "a\0ü").unwrap();
    let shown = "[flag, number, integer, typeof big, big === -(2n ** 63n), word.length].join()";
    assert_eq!(text(&js, shown), "true,0.5,-7,bigint,true,3");
    js.set_global("list", vec![Some("a".to_owned()), None]).unwrap();
    assert_eq!(text(&js, "[Array.isArray(list), list.length, list[0], list[1]].join()"), "true,2,a,");
}

#[test]
fn arguments_become_rust_values() {
    fn from<T: FromJs>(js: &JsAgent, source: &str) -> Result<T, String> {
        let value = js.realm().eval("t.js", source);
        let converted = value.and_then(|value| T::from_js(js.realm(), &value));
        converted.map_err(|exception| js.realm().describe(&exception).message)
    }
    let js = agent();
    assert_eq!(from(&js, "[1, '2', -1, { valueOf: () => 4 }]"), Ok(vec![1, 2, u32::MAX, 4]));
    assert_eq!(
        (from(&js, "''"), from(&js, "1.5"), from(&js, "2 ** 40")),
        (Ok(false), Ok(1.5), Ok(1_u64 << 40))
    );
    assert_eq!(
        (from(&js, "undefined"), from(&js, "null")),
        (Ok(None::<String>), Ok(Some("null".to_owned())))
    );
    assert!(from::<i32>(&js, "Symbol()").unwrap_err().starts_with("TypeError"));
}

#[test]
fn a_block_is_one_buffer_for_all() {
    let block = SharedBlock::new(8).unwrap();
    let (one, other) = (agent_on(&block), agent_on(&block));
    one.eval("t.js", "i32[1] = 7").unwrap();
    assert_eq!(text(&other, "String(i32[1])"), "7");
    let value = one.realm().eval("t.js", "sab").unwrap();
    assert_eq!(one.realm().shared_block(&value), Some(block));
}

#[test]
fn scripts_call_rust() {
    let js = agent();
    let calls = Rc::new(RefCell::new(Vec::new()));
    let log = Rc::clone(&calls);
    js.set_function("record", 1, move |realm, call| {
        log.borrow_mut().push(realm.to_string(&call.argument(0))?);
        Ok(realm.number(call.len() as f64))
    })
    .unwrap();
    assert_eq!(text(&js, "[record('a', 1), record(), record.name, record.length].join()"), "2,0,record,1");
    assert_eq!(*calls.borrow(), ["a", "undefined"]);
    // What a conversion throws passes through the native function.
    assert!(
        thrown(&js, "record({ toString() { throw new RangeError('no text') } })").message.contains("no text")
    );
}

#[test]
fn a_native_function_can_call_back() {
    let js = agent();
    js.set_function("twice", 1, |realm, call| {
        let f = call.argument(0);
        realm.call(&f, &realm.undefined(), &[])?;
        realm.call(&f, &realm.undefined(), &[])
    })
    .unwrap();
    assert_eq!(text(&js, "var n = 0; String(twice(() => ++n))"), "2");
    assert!(thrown(&js, "twice(1)").message.starts_with("TypeError"));
}

#[test]
fn a_panic_ends_the_script_and_nothing_else() {
    let js = agent();
    js.set_function("boom", 0, |_, _| panic!("lost the {}", "plot")).unwrap();
    let error = thrown(&js, "try { boom() } catch { 'caught' } finally { globalThis.ran = true }");
    assert!(error.is_uncatchable && error.message.contains("lost the plot"), "{error}");
    assert_eq!(text(&js, "String(globalThis.ran)"), "undefined");
    js.eval("t.js", "Promise.resolve().then(boom).catch(() => {}); globalThis.alive = 1").unwrap();
    let _ = js.run();
    assert_eq!(text(&js, "String(alive)"), "1");
}

#[test]
fn errors_say_where_and_what() {
    let js = agent();
    let error = thrown(&js, "\n  throw new TypeError('oh')");
    assert_eq!((error.message.as_str(), error.file.as_deref()), ("TypeError: oh", Some("test.js")));
    assert_eq!(error.line, Some(2));
    assert!(error.column.is_some() && error.stack.contains("test.js:2") && !error.is_syntax_error);
    let error = thrown(&js, "let a = 1;\nlet b = ];");
    assert!(error.is_syntax_error, "{error:?}");
    assert_eq!((error.line, error.column), (Some(2), Some(9)));
    assert_eq!(error.to_string(), format!("test.js:2:9: {}", error.message));
    let error = thrown(&js, "throw 42");
    assert_eq!((error.message.as_str(), error.stack.as_str(), error.line), ("42", "", None));
    let error = thrown(&js, "throw { toString() { throw 1 } }");
    assert!(!error.message.is_empty());
    let error = thrown(&js, "throw Symbol('s')");
    assert!(!error.message.is_empty());
}

#[test]
fn rejections_that_nobody_handles_are_listed() {
    let js = agent();
    js.runtime().track_rejections();
    let source = "Promise.reject(new Error('one')); var late = Promise.reject('two'); Promise.reject('three').catch(() => {});
        (async () => { throw new Error('four') })();";
    js.eval("t.js", source).unwrap();
    js.eval("t.js", "late.catch(() => {})").unwrap();
    js.run().unwrap();
    let messages: Vec<_> = js
        .runtime()
        .take_rejections()
        .iter()
        .map(|rejection| js.realm().describe(&rejection.reason).message)
        .collect();
    assert_eq!(messages, ["Error: one", "Error: four"]);
    assert!(js.runtime().take_rejections().is_empty());
}

#[test]
fn a_limit_is_for_scripts_and_not_for_what_an_agent_starts_with() {
    let js = agent_within(1 << 10);
    assert!(js.new_realm().is_ok());
    let error = js.eval("t.js", "new ArrayBuffer(1 << 20)").unwrap_err();
    assert!(error.message.ends_with("out of memory"), "{error}");
}

/// The engine asks every ten thousand loops or calls whether it shall go on. Where in such a round the memory is gone depends on the
/// limit, on the size of a value and on what the script makes, so the limits here cover a round.
#[test]
fn no_script_that_hoards_sees_null_and_one_that_goes_on_is_ended() {
    for limit in (1 << 20..(1 << 20) + 480_000).step_by(16_000) {
        for made in ["[hoard]", "{ hoard }", "(kept => () => kept)(hoard)"] {
            let js = agent_within(limit);
            js.eval("t.js", "var errors = 0, others = 0, hoard").unwrap();
            let catch = "if (error instanceof InternalError) errors++; else others++";
            let source = format!("for (;;) try {{ for (;;) hoard = {made} }} catch (error) {{ {catch} }}");
            let error = js.eval("t.js", &source).unwrap_err();
            let case = format!("{made} within {limit}");
            assert!(error.is_uncatchable && js.runtime().is_out_of_memory(), "{case}: {error}");
            assert!(
                js.eval("t.js", "for (;;);").unwrap_err().is_uncatchable,
                "{case}: so is what runs after it"
            );
            let count = |name| js.realm().get(&js.realm().global(), name).unwrap().as_number().unwrap();
            assert!(count("errors") > 0.0, "{case}");
            assert_eq!(count("others"), 0.0, "{case}: only InternalErrors were thrown");
        }
    }
}

#[test]
fn values_may_outlive_their_agent() {
    let js = agent();
    let realm = js.realm().clone();
    let JsValue::Other(object) =
        js.eval("t.js", "({ f: () => Atomics.notify(new Int32Array(1), 0) })").unwrap()
    else {
        panic!("an object")
    };
    drop(js);
    let f = realm.get(&object, "f").unwrap();
    let error = realm.call(&f, &object, &[]).unwrap_err();
    assert!(error.is_uncatchable(), "the agent is gone: its functions end the script");
}

#[test]
fn values_of_another_agent_are_refused() {
    let (one, other) = (agent(), agent());
    let value = other.realm().object().unwrap();
    let used = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| one.set_global("x", value)));
    assert!(used.is_err());
    assert_eq!(text(&one, "'alive'"), "alive");
}

#[test]
fn an_observer_sees_blocking_waits() {
    struct Log(Rc<RefCell<Vec<String>>>);
    impl WaitObserver for Log {
        fn before_wait(&self, block: &SharedBlock, byte_index: usize, timeout: Timeout) {
            let timeout = matches!(timeout, Timeout::Never);
            self.0.borrow_mut().push(format!("{} {byte_index} never={timeout}", block.len()));
        }
        fn after_wait(&self) {
            self.0.borrow_mut().push("back".to_owned());
        }
    }
    let js = agent_on(&SharedBlock::new(16).unwrap());
    let log = Rc::new(RefCell::new(Vec::new()));
    js.set_wait_observer(Log(Rc::clone(&log)));
    // A wait that need not wait blocks nothing, nor does one that is a promise.
    js.eval("t.js", "Atomics.wait(i32, 1, 1); Atomics.wait(i64, 1, 0n, 0); Atomics.waitAsync(i32, 0, 0)")
        .unwrap();
    assert!(log.borrow().is_empty());
    js.eval("t.js", "Atomics.wait(i64, 1, 0n, 1)").unwrap();
    assert_eq!(*log.borrow(), ["16 8 never=false", "back"]);
    log.borrow_mut().clear();
    let agent = js.handle();
    let stopper = std::thread::spawn(move || {
        while !agent.is_queued() {
            std::thread::yield_now();
        }
        agent.terminate();
    });
    js.eval("t.js", "Atomics.wait(i32, 1, 0)").unwrap_err();
    stopper.join().unwrap();
    assert_eq!(*log.borrow(), ["16 4 never=true", "back"]);
}

#[test]
fn any_value_can_be_run_until_settled() {
    let js = agent();
    for (source, expected) in
        [("'x'", "x"), ("Promise.resolve('y')", "y"), ("(async () => { await null; return 'z' })()", "z")]
    {
        let value = js.eval("t.js", source).unwrap();
        assert_eq!(js.run_until_settled(&value).unwrap().as_str(), Some(expected));
    }
    let object = js.eval("t.js", "({ then() { throw 1 } })").unwrap();
    assert!(matches!(js.run_until_settled(&object).unwrap(), JsValue::Other(_)));
    let rejected = js.eval("t.js", "Promise.reject(new RangeError('no'))").unwrap();
    assert_eq!(js.run_until_settled(&rejected).unwrap_err().message, "RangeError: no");
}

#[test]
fn what_other_threads_need_can_be_sent_to_them() {
    fn sent_and_shared<T: Send + Sync + 'static>() {}
    sent_and_shared::<waitword_quickjs::JsError>();
    sent_and_shared::<waitword_quickjs::AgentHandle>();
    sent_and_shared::<waitword_quickjs::Doorbell>();
    sent_and_shared::<SharedBlock>();
}

/// The engine's parser does not bear to be refused: it loses objects, or finds its code without an end, and an assertion ends the
/// process.
#[test]
fn a_parser_without_memory_is_an_error_and_no_crash() {
    let piece = "try { for (const each of [1, 2]) { if (each) sum += each; else break; } } catch (error) { sum = error; }
        const f = (a, b = () => a) => { while (a) { switch (a) { case 1: continue; default: return b(); } } };";
    let body = (0..8).map(|_| format!("{{ let sum = 0; {piece} }}\n")).collect::<String>();
    let mut refused = 0;
    for limit in (1_000..120_000).step_by(331) {
        let js = agent_within(limit);
        match js.realm().compile_function("t.js", "one, two", &body) {
            Ok(function) => assert!(function.is_object()),
            Err(error) => {
                let message = js.realm().describe(&error).message;
                assert!(message.contains("out of memory") || message == "null", "{limit}: {message}");
                refused += 1;
            }
        }
    }
    assert!((20..340).contains(&refused), "some have to fit, and some not: {refused}");
}

/// The example `embed`, in which they share a lock, is right about its total.
#[test]
fn a_rust_thread_and_a_script_lose_no_count() {
    // Cargo builds the examples before the tests, next to the folder of the tests.
    let tests = std::env::current_exe().unwrap();
    let example = tests
        .ancestors()
        .nth(2)
        .unwrap()
        .join("examples/embed")
        .with_extension(std::env::consts::EXE_EXTENSION);
    let ran = std::process::Command::new(&example).output();
    let ran = ran.unwrap_or_else(|error| {
        panic!("{}: {error}; `cargo test` without `--test` builds it", example.display())
    });
    let stdout = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && stdout.contains("total 4000 of 4000"), "{ran:?}");
}
