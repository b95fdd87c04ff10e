//! What a call may be given and what a string may have: `Function.prototype.apply`, `Reflect.apply` and `Reflect.construct` by ECMA-262, in
//! every realm, and lengths as in V8.

mod common;

use common::{agent, text};

/// What each of the three makes of a list: how many arguments there are, or the name of an error.
const COUNTS: &str = r#"
    var count = (...all) => all.length;
    var tried = (run) => { try { return run(); } catch ({ name }) { return name; } };
    var counts = (make) => [() => count.apply(null, make()), () => Reflect.apply(count, null, make()),
        () => Reflect.construct(class { constructor(...all) { this.length = all.length; } }, make()).length].map(tried).join();
    var alike = (length) => ({ length, 0: 7 });
    var proxy = (length) => new Proxy(alike(length), {});
    var argumentsOf = (length) => (function () { arguments.length = length; return arguments; })(1, 2, 3);
    var bytes = (length) => Object.defineProperty(new Uint8Array(3), "length", { value: length });
"#;

#[test]
fn the_length_of_a_list_does_not_wrap() {
    let js = agent();
    js.set_function("sibling", 0, |realm, _| Ok(realm.sibling()?.global())).unwrap();
    let rows = ["alike", "proxy", "argumentsOf", "bytes"].map(|make| {
        format!(
            r#"for (const length of [2 ** 32 + 1, 2 ** 32 + 3, 2 ** 33, 2 ** 53, Infinity, 65536, -(2 ** 32) + 3, 3.9, "2"])
                 answers.push(counts(() => {make}(length)));"#
        )
    });
    let seen = format!("{COUNTS} var answers = []; {} answers.join(' ')", rows.concat());
    let beyond = ["RangeError,RangeError,RangeError"; 6];
    let expected = [&beyond[..], &["0,0,0", "3,3,3", "2,2,2"]].concat().repeat(4).join(" ");
    assert_eq!(text(&js, &seen), expected);
    assert_eq!(text(&js, &format!("sibling().eval({seen:?})")), expected);
    assert_eq!(
        text(&js, &format!("{COUNTS} counts(() => new Array(2 ** 32 - 1)) + counts(() => Array(65))")),
        { "RangeError,RangeError,RangeError65,65,65" }
    );
}

#[test]
fn a_list_is_read_once_and_after_the_checks_of_what_is_called() {
    let js = agent();
    let program = r#"
        var log = [];
        var list = new Proxy({ length: 2, 0: "a", 1: "b" }, {
            get: (target, key) => (log.push(key), target[key]), has: () => log.push("has"), ownKeys: () => log.push("keys") });
        var name = (run) => { try { run(); log.push("-"); } catch (error) { log.push(error.name); } };
        var arrow = () => {};
        name(() => arrow.apply(null, list));
        name(() => Reflect.apply(arrow, null, list));
        name(() => Reflect.construct(Array, list));
        for (const what of [1, {}]) {
            name(() => Function.prototype.apply.call(what, null, list));
            name(() => Reflect.apply(what, null, list));
            name(() => Reflect.construct(what, list));
            name(() => Reflect.construct(Array, list, what));
        }
        name(() => Reflect.construct(arrow, list));
        for (const what of [undefined, 1, "text"]) {
            name(() => arrow.apply(null, what));
            name(() => Reflect.apply(arrow, null, what));
            name(() => Reflect.construct(Array, what));
        }
        log.join(" ")
    "#;
    let read = "length 0 1 - ".repeat(3);
    let refused = "TypeError ".repeat(9);
    assert_eq!(
        text(&js, program),
        format!("{read}{refused}- TypeError TypeError{}", " TypeError".repeat(6)),
        "only `apply` takes undefined for no arguments"
    );
}

#[test]
fn they_are_built_in_functions_like_the_engines() {
    let program = r#"
        var shown = (object, name) => {
            const { value, ...attributes } = Object.getOwnPropertyDescriptor(object, name);
            let isConstructor = true;
            try { new value(); } catch { isConstructor = false; }
            const { name: own, length } = value;
            return [own, length, isConstructor, "prototype" in value, ...Object.values(attributes)].join();
        };
        [shown(Function.prototype, "apply"), shown(Reflect, "apply"), shown(Reflect, "construct")].join(" ")
    "#;
    let expected =
        ["apply,2", "apply,3", "construct,2"].map(|own| format!("{own},false,false,true,false,true"));
    assert_eq!(text(&agent(), program), expected.join(" "));
}

/// As in V8: before the engine fills them, for seconds in which nothing interrupts it.
#[test]
fn strings_longer_than_those_of_v8_are_a_range_error_at_once() {
    let program = r#"
        var most = 2 ** 29 - 24, ran = [];
        var tried = (run) => { try { return run().length; } catch (error) { return String(error); } };
        [() => "a".repeat(most + 1), () => "abc".repeat(most / 3 + 1), () => "".repeat(2 ** 30), () => "a".repeat(-1),
         () => "a".padEnd(most + 1), () => "a".padStart(most + 1.5, "bc"), () => "a".padEnd(Infinity), () => "a".padEnd(most + 1, ""),
         () => new Array(1e9).join("x"), () => new Array(most + 2).join(), () => new Array(most / 8).join("a".repeat(9)),
         () => [1, 2].join("a".repeat(9)), () => new Array(1e5).join(""), () => [, { toString: () => ran.push("ran") }].join("-"),
         () => "a".repeat({ valueOf: () => ran.push("ran") }), () => "a".padEnd("3"), () => [ran.length].toString()].map(tried).join()
    "#;
    let beyond = ["RangeError: Invalid string length"; 8];
    let small = ["11", "0", "2", "2", "3", "1"];
    let repeats = [&beyond[..2], &["0", "RangeError: invalid repeat count"]].concat();
    let pads = [&beyond[..3], &["1"]].concat();
    assert_eq!(text(&agent(), program), [&repeats[..], &pads, &beyond[..3], &small].concat().join(","));
}
