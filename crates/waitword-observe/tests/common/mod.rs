//! What the tests of observation share: turns, tasks that are polled by hand, what is seen of a lock, and texts without what varies.

#![allow(dead_code, reason = "each test program uses some of it")]

use std::future::Future;
use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use waitword::observe::Actor;
use waitword_observe::internals::start_holders;
use waitword_observe::{Access, Cycle, Finding, Holder, LockKind, enable, report, snapshot};

/// Observation is the process's, and so are its switch and its reports: one test of a program at a time.
pub(crate) fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A [`turn`] in which holders are recorded.
pub(crate) fn recorded() -> MutexGuard<'static, ()> {
    let turn = turn();
    start_holders();
    turn
}

/// A [`turn`] in which all is observed.
pub(crate) fn observed() -> MutexGuard<'static, ()> {
    let turn = turn();
    enable();
    turn
}

pub(crate) fn until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        thread::yield_now();
    }
}

/// Until a thread with that name is queued.
pub(crate) fn until_waiting(name: &str) {
    until(|| {
        waitword::observe::snapshot()
            .iter()
            .any(|waiter| matches!(&waiter.actor, Actor::Thread(waiting) if waiting.name() == Some(name)))
    });
}

pub(crate) fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// The waker of a task that a test polls by hand. It may be used again, as executors use the memory of a task that has ended.
pub(crate) fn waker() -> Waker {
    struct Task;
    impl Wake for Task {
        fn wake(self: Arc<Self>) {}
    }
    Waker::from(Arc::new(Task))
}

pub(crate) fn poll<F: Future + ?Sized>(task: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    task.poll(&mut Context::from_waker(waker))
}

/// The output of a task that ends at its first poll.
pub(crate) fn ended<F: Future>(task: F, waker: &Waker) -> F::Output {
    match poll(pin!(task), waker) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

/// The cycles in a report of this moment.
pub(crate) fn cycles() -> Vec<Cycle> {
    let cycle = |finding| match finding {
        Finding::Cycle(cycle) => Some(cycle),
        _ => None,
    };
    report().findings.into_iter().filter_map(cycle).collect()
}

pub(crate) fn address_of<T: ?Sized>(lock: &T) -> u64 {
    std::ptr::from_ref(lock).addr() as u64
}

/// Whether the word at this address is one of the lock.
pub(crate) fn is_within<T: ?Sized>(word: u64, lock: &T) -> bool {
    (address_of(lock)..address_of(lock) + size_of_val(lock).max(1) as u64).contains(&word)
}

/// The records of those that hold this lock.
pub(crate) fn holders_of<T: ?Sized>(lock: &T) -> Vec<Holder> {
    let mut holders = snapshot().holders.expect("on");
    holders.retain(|holder| is_within(holder.lock.0, lock));
    holders
}

/// As [`held`], of a lock that nobody holds.
pub(crate) const NOBODY: [&str; 0] = [];

/// How the lock is held by the records, and by the guards of which line: its mark.
pub(crate) fn held<T>(lock: &T) -> Vec<String> {
    let shown = |holder: &Holder| {
        let how = match (holder.kind, holder.mode) {
            (LockKind::RwLock, Access::Shared) => "Read".to_owned(),
            (LockKind::RwLock, Access::Exclusive) => "Write".to_owned(),
            (LockKind::RwLock, _) => "UpgradableRead".to_owned(),
            (kind, _) => kind.to_string(),
        };
        masked(&format!("{how} {}", holder.site.as_ref().expect("known")))
    };
    holders_of(lock).iter().map(shown).collect()
}

/// Of records of one tick of 10 ms nobody knows which is younger.
pub(crate) fn a_tick_later() {
    let taken_at = || {
        let lock = waitword::Mutex::new(0);
        let _taken = lock.lock();
        let seen = snapshot();
        let taken = seen.holders_of(waitword_observe::Address(address_of(&lock))).next();
        seen.taken - taken.and_then(|taken| taken.held).expect("held")
    };
    let now = taken_at();
    until(|| taken_at() != now);
}

/// The text without what differs from run to run. Times, addresses, numbers of processes and those that tell threads of one name apart are
/// `#`, tasks are numbered as they come in the text (their own numbers depend on which of them an earlier snapshot saw), and the line of a
/// test is `<mark>` if it ends with `// mark`.
pub(crate) fn masked(text: &str) -> String {
    let (mut shown, mut last, mut before, mut tasks) = (String::new(), "", "", Vec::new());
    let mut at_last = 0;
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end();
        let core = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '…');
        let is_number = |word: &str| word.trim_start_matches('(').parse::<f64>().is_ok();
        let is_time = matches!(core, "us" | "ms" | "s" | "min") && is_number(last);
        if is_time {
            shown.truncate(at_last);
        }
        let is_of_thread = before == "thread" && last.ends_with('"') && is_number(core);
        let mask = if is_time || is_of_thread || core.starts_with("0x") || last == "(process" {
            "#".to_owned()
        } else if last == "task" && is_number(core) {
            let known = tasks.iter().position(|task| *task == core);
            let number = known.unwrap_or(tasks.len());
            if known.is_none() {
                tasks.push(core);
            }
            (number + 1).to_string()
        } else {
            mark(core).unwrap_or_else(|| core.to_owned())
        };
        if !word.is_empty() {
            (before, last, at_last) = (last, word, shown.len());
        }
        match core {
            "" => shown.push_str(piece),
            core => shown.push_str(&piece.replacen(core, &mask, 1)),
        }
    }
    shown
}

/// The mark of a place, if it is a line of a test that has one. A long path has lost its beginning.
fn mark(site: &str) -> Option<String> {
    let (file, line) = site.split_once(".rs:")?;
    let (_, file) = file.rsplit_once("tests/").or_else(|| file.split_once("…/"))?;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(format!("{file}.rs"));
    let source = std::fs::read_to_string(path).ok()?;
    let line = source.lines().nth(line.parse::<usize>().ok()? - 1)?;
    Some(format!("<{}>", line.split_once("// ")?.1))
}

/// The words alone: a longer time moves the ends of lines.
pub(crate) fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Asserts that the text is that of the file, but for the breaks of its lines. If the file begins with `…`, the text has the rest of it, and
/// what else it has depends on the machine. With WAITWORD_BLESS set, the other files are written anew.
#[track_caller]
pub(crate) fn assert_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.txt"));
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    let part = golden.strip_prefix("… ");
    if std::env::var_os("WAITWORD_BLESS").is_some() && part.is_none() {
        return std::fs::write(path, text).unwrap();
    }
    let (shown, expected) = (in_one_line(text), in_one_line(part.unwrap_or(&golden)));
    let is_it = if part.is_some() { shown.contains(&expected) } else { shown == expected };
    assert!(is_it && !expected.is_empty(), "{text}\ninstead of, in {}\n{golden}", path.display());
}
