//! What the compiler, and clippy with the configuration of the documentation, say to code that blocks in a task. Both are asked,
//! about a small package of their own.

#[path = "common/skip.rs"]
mod skip;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs};

/// The configuration that users copy.
const CLIPPY_TOML: &str = include_str!("../docs/clippy.toml");

/// Words that look like the twin of another, and are private, another's name, or do not block.
const NOT_BLOCKING: [&str; 9] = [
    "",
    "execute_locked",
    "init_until",
    "owned",
    "owned_docs",
    "owned_for",
    "owned_until",
    "upgrade_within",
    "upgradeable_read",
];

/// Runs `cargo SUBCOMMAND` on a library with this source, and returns what it says.
fn cargo(subcommand: &str, name: &str, source: &str) -> Output {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&package).unwrap();
    let manifest = format!(
        "[package]\nname = '{name}'\nedition = '2024'\n[lib]\npath = 'lib.rs'\n\
         [dependencies]\nwaitword = {{ path = '{}' }}\n[workspace]\n",
        here.display()
    );
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    fs::write(package.join("lib.rs"), source).unwrap();
    fs::write(package.join("clippy.toml"), CLIPPY_TOML).unwrap();
    // The versions that this crate has been built with are there already.
    let lock = here.join("../../Cargo.lock");
    if lock.exists() {
        fs::copy(lock, package.join("Cargo.lock")).unwrap();
    }
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Whatever this test itself is built with is meant for it alone; and clippy brings a compiler of its own.
    for name in
        ["RUSTC", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET", "RUSTC_WORKSPACE_WRAPPER"]
    {
        cargo.env_remove(name);
    }
    cargo.args([subcommand, "--offline", "--target-dir"]).arg(package.parent().unwrap().join("target"));
    cargo.current_dir(&package).output().unwrap()
}

#[track_caller]
fn says(output: &Output, text: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(text), "`{text}` is missing in:\n{said}");
}

#[test]
fn to_await_a_blocking_method_is_refused_and_the_message_names_the_async_one() {
    let methods = [
        ("Mutex<u8>", "lock"),
        ("Arc<Mutex<u8>>", "lock_owned"),
        ("RwLock<str>", "read"),
        ("Arc<RwLock<u8>>", "read_owned"),
        ("RwLock<[u8]>", "write"),
        ("Arc<RwLock<u8>>", "write_owned"),
        ("RwLock<u8>", "upgradable_read"),
        ("Arc<RwLock<u8>>", "upgradable_read_owned"),
        ("Barrier", "wait"),
    ];
    let program = |suffix: &str| -> String {
        let head = "#![allow(unused)]\nuse std::sync::Arc;\nuse waitword::*;\n".to_owned();
        let function = |(lock, method): (&str, &str)| {
            format!(
                "pub async fn f_{method}(lock: &{lock}) {{ let guard = lock.{method}{suffix}().await; }}\n"
            )
        };
        head + &methods.map(function).concat()
    };
    let refused = cargo("check", "awaits_a_guard", &program(""));
    assert!(!refused.status.success());
    for (_, method) in methods {
        says(&refused, &format!("expected `{method}_async`, found `a_method_that_blocks`"));
    }
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(said.matches("error[").count(), methods.len(), "one mistake, one error:\n{said}");
    assert!(!said.contains("remove the `.await`"), "without it the method blocks all the same:\n{said}");

    let accepted = cargo("check", "awaits_a_guard", &program("_async"));
    assert!(accepted.status.success(), "{}", String::from_utf8_lossy(&accepted.stderr));
}

#[test]
fn what_is_not_used_is_warned_of_with_what_to_do() {
    let source = "use waitword::*;\n\
        pub fn f(mutex: &Mutex<u8>, rwlock: &RwLock<u8>, semaphore: &Semaphore, event: &Event, group: &WaitGroup) {\n\
            mutex.lock();\n\
            mutex.lock_async();\n\
            rwlock.read();\n\
            rwlock.read_async();\n\
            semaphore.acquire().unwrap();\n\
            semaphore.acquire_async();\n\
            event.wait_async();\n\
            group.add();\n\
            forbid_blocking();\n\
        }\n";
    let warned = cargo("check", "uses_nothing", source);
    assert!(warned.status.success());
    for text in [
        "dropping the guard releases the mutex: keep it with `let guard = ...`",
        "nothing is locked until this is awaited: add `.await`, or lock without `_async` in a thread",
        "dropping the guard releases the lock: keep it with `let guard = ...`",
        "dropping the permit releases it: keep it with `let permit = ...`, or call `forget` to remove it from the semaphore",
        "nothing is acquired until this is awaited: add `.await`",
        "nothing is waited for until this is awaited: add `.await`",
        "dropping the token says that the worker is done: keep it with `let token = ...`",
        "to forbid it for good, call `forever` on it",
    ] {
        says(&warned, text);
    }
    assert_eq!(String::from_utf8_lossy(&warned.stderr).matches("that must be used").count(), 9);
}

#[test]
fn a_future_of_a_condition_variable_that_is_lent_the_guard_is_refused_and_the_message_says_what_to_write() {
    let program = |wait: &str| {
        format!(
            "use waitword::*;\npub async fn f(mutex: &Mutex<u8>, changed: &Condvar) {{\n    \
             let mut guard = mutex.lock_async().await;\n    guard = {wait}.await;\n    drop(guard);\n}}\n"
        )
    };
    for wait in ["changed.wait_async(&mut guard)", "changed.wait_while_async(&mut guard, |_| true)"] {
        let refused = cargo("check", "lends_a_guard", &program(wait));
        assert!(!refused.status.success());
        says(&refused, "a wait of `Condvar` does not take `&mut waitword::MutexGuard<'_, u8>`");
        says(&refused, "`guard = condvar.wait_async(guard).await`");
    }
    let accepted = cargo("check", "lends_a_guard", &program("changed.wait_async(guard)"));
    assert!(accepted.status.success(), "{}", String::from_utf8_lossy(&accepted.stderr));
}

/// A guard has an impl of `Future` for the sake of the message, under a condition that nothing meets.
#[test]
fn methods_of_futures_do_not_hide_those_of_the_value() {
    use futures_util::FutureExt;

    let mutex = waitword::Mutex::new(Some(1));
    assert_eq!(mutex.lock().map(|number| number + 1), Some(2));
    assert_eq!(waitword::RwLock::new(Some(1)).read().map(|number| number + 1), Some(2));

    struct Value;
    impl Value {
        fn boxed(&self) -> &'static str {
            "of the value"
        }
    }
    assert_eq!(std::sync::Arc::new(waitword::Mutex::new(Value)).lock_owned().boxed(), "of the value");
    // One that is a future is polled through its guard as ever.
    let ready = waitword::Mutex::new(std::future::ready(3));
    assert_eq!((&mut *ready.lock()).now_or_never(), Some(3));
}

/// The paths in the configuration.
fn paths() -> BTreeSet<&'static str> {
    let paths = CLIPPY_TOML.split("path = \"").skip(1);
    paths.map(|rest| rest.split('"').next().expect("the path is quoted")).collect()
}

/// Clippy says so of a path that does not exist.
#[test]
fn clippy_knows_each_path_of_the_configuration_and_warns_of_its_use() {
    let source = "use waitword::*;\n\
        pub async fn lock(mutex: &Mutex<u8>, rwlock: &RwLock<u8>, event: &Event) {\n\
            *mutex.lock() += 1;\n\
            *rwlock.write() += 1;\n\
            event.wait();\n\
            *mutex.lock_async().await += 1;\n\
        }\n";
    let output = cargo("clippy", "blocks_in_a_task", source);
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && said.contains("is not installed") || said.contains("no such command") {
        return skip::skip("that clippy knows docs/clippy.toml", "clippy is not installed");
    }
    assert!(output.status.success(), "{said}");
    says(&output, "use of a disallowed method `waitword::Mutex::lock`");
    says(&output, "use of a disallowed method `waitword::RwLock::write`");
    says(&output, "use of a disallowed method `waitword::Event::wait`");
    says(&output, "blocks the thread; in a task: `lock_async`");
    assert_eq!(said.matches("use of a disallowed method").count(), 3, "{said}");
    assert!(!said.contains("clippy.toml"), "a path is unknown:\n{said}");
}

/// What has an `_async` twin in the sources of its type, as a method or as an argument of the macro that makes it.
#[test]
fn the_configuration_has_every_method_that_blocks() {
    let paths = paths();
    let mut found = 0;
    for (sources, types) in [
        ("async_lock", &["word::AsyncLock"][..]),
        ("barrier", &["Barrier"]),
        ("condvar", &["Condvar"]),
        ("event", &["Event"]),
        ("keyed/locks.rs", &["keyed::KeyedMutex", "keyed::KeyedRwLock"]),
        ("keyed/once_map.rs", &["keyed::OnceMap"]),
        ("mutex", &["Mutex", "MutexGuard"]),
        ("once/init.rs", &["OnceLock"]),
        ("once/lazy.rs", &["LazyLock"]),
        ("once/mod.rs", &["OnceLock"]),
        ("rwlock", &["RwLock", "RwLockUpgradableReadGuard"]),
        ("semaphore", &["Semaphore"]),
        ("wait_group", &["WaitGroup"]),
    ] {
        let words = words(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(sources));
        let twins =
            words.iter().filter(|word| word.contains("_async")).map(|word| word.replace("_async", ""));
        let timed = |twin: String| [format!("{twin}_for"), format!("{twin}_until"), twin];
        for twin in
            twins.flat_map(timed).filter(|twin| words.contains(twin) && !NOT_BLOCKING.contains(&&**twin))
        {
            let is_listed = types.iter().any(|of| paths.contains(&*format!("waitword::{of}::{twin}")));
            assert!(is_listed, "not in docs/clippy.toml: `{twin}` of `{}`", types[0]);
            found += 1;
        }
    }
    assert!(found > 40, "that is not all: {found}");
}

/// The words of the code in a file or a folder, without comments and the names that others use.
fn words(path: &Path) -> BTreeSet<String> {
    if path.is_dir() {
        return fs::read_dir(path).unwrap().flat_map(|entry| words(&entry.unwrap().path())).collect();
    }
    let source = fs::read_to_string(path).unwrap();
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//") && !line.contains("alias"));
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    code.flat_map(|line| line.split(|char| !is_word(char))).map(str::to_owned).collect()
}
