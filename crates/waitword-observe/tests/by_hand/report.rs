//! A report as text and as JSON.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;
use waitword_observe::{
    Access, Actor, Blame, Blamed, Certainty, Finding, LockKind, Process, ReadError, Report, SCHEMA, Slow,
    Snapshot, State, cycles, waits,
};

use crate::{Made, abba, later, task, thread};

fn report_with(findings: Vec<Finding>, snapshot: Snapshot) -> Report {
    let process = Process { id: 4242, program: Some("pool".into()) };
    Report { process, unix_ms: 1_795_000_000_000, ..Report::new(findings, snapshot) }
}

fn report(made: &Made) -> Report {
    let second = later(&made.0);
    let mut findings = cycles(&made.0, &second);
    findings.extend(waits(&second));
    report_with(findings, second)
}

/// Every variant and every field.
fn everything() -> Report {
    let agent = Actor::Agent { number: 1, name: None };
    let [main, polled] = [thread(1, "main"), task(3, Some("flush"))];
    let mut made = abba(thread(8, "alpha"), task(9, None));
    made = made.but(|waiter| waiter.timed = None).but_held(|holder| holder.sent_away = true);
    made.0.holders.as_mut().unwrap()[0].by_waker = true;
    made = made
        .lock(0xc0, LockKind::Condvar, None)
        .waits(agent, Access::Notification, "src/q.rs:25", 61_000)
        .lock(0xd0, LockKind::Mutex, Some("Mutex<S>"))
        .waits(main.clone(), Access::Exclusive, "src/api.rs:12", 1_000)
        .held(polled.clone(), Access::Exclusive, "src/api.rs:30", 1_100)
        .waits(task(7, None), Access::Exclusive, "src/api.rs:14", 1_000)
        .but(|waiter| (waiter.state, waiter.signalled) = (State::Skipped, Some(Duration::from_secs(2))))
        .polled(polled, main, true)
        .lock(0xe0, LockKind::RwLock, None)
        .held(thread(21, "r"), Access::Shared, "a.rs:7", 3_000)
        .waits(thread(22, "w"), Access::Exclusive, "b.rs:4", 2_000)
        .waits(thread(21, "r"), Access::Shared, "a.rs:9", 1_500)
        .lock(0xf0, LockKind::AsyncLock, None)
        .held(thread(31, "s"), Access::Exclusive, "s.rs:1", 3_000)
        .but_held(|holder| holder.sent_away = true)
        .waits(thread(31, "s"), Access::Exclusive, "s.rs:2", 1_500)
        .lock(0x100, LockKind::Mutex, None)
        .held(thread(41, "l"), Access::Exclusive, "l.rs:1", 99_000)
        .waits(thread(42, "m"), Access::Exclusive, "l.rs:2", 88_000)
        .lock(0x110, LockKind::Event, None)
        .waits(thread(41, "l"), Access::Notification, "l.rs:3", 77_000);
    made.0.locks[0].name.name = Some("accounts".into());
    report(&made)
}

#[test]
fn json_is_read_back_as_it_was() {
    let report = everything();
    let json = report.to_json();
    assert!(!json.contains('\n'), "one line");
    assert_eq!(Report::from_json(&json).as_ref(), Ok(&report));
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&value["format"], &value["schema"]), (&"waitword-report".into(), &SCHEMA.into()));
    assert_eq!(value["snapshot"]["locks"][0]["address"], "0xa0");
    assert_eq!(value["snapshot"]["locks"][0]["waiters"][0]["age_ns"], 2_250_000_000_u64);
}

/// The words of the schema, which readers compare with.
#[test]
fn the_words_of_the_schema_stay() {
    let json = everything().to_json();
    let words = "cycle never_polled no_known_notifier long_wait holder_waits deadlock executor_blocked other_way another_task timed guard_sent_away \
         unlocked_by_another holds queued_ahead polls exclusive shared notification queued skipped mutex rw_lock condvar thread task agent";
    for word in words.split_whitespace() {
        assert!(json.contains(&format!(":\"{word}\"")), "{word} is not in {json}");
    }
    let alone = serde_json::to_value(Certainty::ExecutorMayBeBlocked).unwrap();
    assert_eq!(alone, "executor_may_be_blocked");
    let kinds = [LockKind::Word, LockKind::WaitGroup, LockKind::OnceLock, LockKind::AsyncLock];
    let kinds = serde_json::to_value(kinds).unwrap();
    assert_eq!(kinds, serde_json::json!(["word", "wait_group", "once_lock", "async_lock"]));
}

/// All keys and all tags of the JSON stand in the page, each as code.
#[test]
fn the_page_of_the_schema_has_every_field() {
    fn walk(value: &Value, words: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    words.insert(key.clone());
                    let tags = "type finding blocks unless certainty state kind wants mode";
                    if tags.split(' ').any(|tag| tag == key) {
                        words.extend(value.as_str().map(str::to_owned));
                    }
                    walk(value, words);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, words)),
            _ => {}
        }
    }
    let mut words = BTreeSet::new();
    walk(&serde_json::from_str(&everything().to_json()).unwrap(), &mut words);
    assert!(words.len() > 50, "{words:?}");
    let page = include_str!("../../docs/json.md");
    let missing: Vec<&String> = words.iter().filter(|word| !page.contains(&format!("`{word}`"))).collect();
    assert!(missing.is_empty(), "docs/json.md lacks {missing:?}");
}

#[test]
fn other_json_and_other_versions_are_told_apart() {
    let json = everything().to_json();
    for other in ["", "{}", "[1]", "{\"format\":\"x\",\"schema\":1}", "<html>"] {
        assert_eq!(Report::from_json(other), Err(ReadError::NotAReport), "{other}");
    }
    let newer = json.replace("\"schema\":1", "\"schema\":2");
    assert_eq!(Report::from_json(&newer), Err(ReadError::OtherSchema(2)));
    assert!(newer != json && ReadError::OtherSchema(2).to_string().contains("version 2"));
    let damaged = json.replace("\"taken_ns\"", "\"taken\"");
    assert!(matches!(Report::from_json(&damaged), Err(ReadError::Malformed(_))));
    // Fields may be added within a version.
    let more = json.replace("\"unix_ms\"", "\"later_field\":{},\"unix_ms\"");
    assert!(more != json && Report::from_json(&more).is_ok());
}

#[test]
fn text_says_what_is_known_and_no_more() {
    let mut made = Made::new()
        .lock(0xa0, LockKind::Mutex, Some("Mutex<Accounts>"))
        .waits(thread(1, "alpha"), Access::Exclusive, "src/pay.rs:41", 200)
        .waits(task(14, None), Access::Exclusive, "src/http.rs:7", 30)
        .held(thread(2, "beta"), Access::Exclusive, "src/audit.rs:17", 1_390)
        .lock(0xb0, LockKind::RwLock, None)
        .waits(task(15, None), Access::Shared, "src/http.rs:9", 12)
        .but(|waiter| waiter.age = None);
    made.0.locks[0].name.name = Some("accounts".into());
    let text = |made: &Made| report_with(waits(&made.0), made.0.clone()).to_string();
    let expected = "\
waitword: pool (process 4242): 3 waiters at 2 locks
some waits have no age: they began before the clock was started (waitword_observe::enable starts it)
nothing found

Mutex<Accounts> \"accounts\" at 0xa0: 2 waiters
    1.3 s  held by thread \"beta\", taken at src/audit.rs:17
   200 ms  thread \"alpha\"  src/pay.rs:41
    30 ms  task 14         src/http.rs:7

RwLock at 0xb0: 1 waiter
  holder unknown (taken before observation began)
        -  task 15  src/http.rs:9, to read
";
    assert_eq!(text(&made), expected);
    made.0.recording.as_mut().unwrap().unrecorded = 3;
    let text_of_lost = text(&made);
    assert!(
        text_of_lost.contains("(taken before observation began, or one of 3 acquisitions not recorded)\n"),
        "{text_of_lost}"
    );
    (made.0.holders, made.0.recording) = (None, None);
    let without = text(&made);
    assert!(without.contains("\nholders are not recorded, so deadlocks cannot be found (waitword_observe::enable records them)\n"), "{without}");
    assert!(!without.contains("held by") && !without.contains("holder unknown"), "{without}");
}

#[test]
fn permits_are_shown_by_site() {
    let mut made = Made::new().lock(0x50, LockKind::Semaphore, None);
    for (at, held) in [(14, 720_000), (14, 100), (14, 5_000), (40, 60_000), (40, 1)] {
        made = made.held(thread(held, "pool"), Access::Permits, &format!("src/pool.rs:{at}"), held);
    }
    let text = report(&made.waits(task(1, None), Access::Permits, "src/pool.rs:9", 660_000)).to_string();
    let expected = "
Semaphore at 0x50: 1 waiter
   12 min  3 permits, taken at src/pool.rs:14
     61 s  2 permits, taken at src/pool.rs:40
   11 min  task 1  src/pool.rs:9
";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn the_newest_finding_is_first() {
    let text = everything().to_string();
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part} in\n{text}"));
    assert!(place("executor blocked: thread \"main\" waits 2.0 s") < place("youngest wait 2.2 s"));
    assert!(place("youngest wait 2.2 s") < place("waits 2.5 s to read"));
    assert!(place("waits 2.5 s to read") < place("Condvar at 0xc0: 1 waiter, longest 62 s"));
}

#[test]
fn no_line_is_longer_than_a_terminal_whatever_the_names_are() {
    let long = "a\u{1b}[2J\nü".repeat(60);
    let mut made = abba(thread(1, &long), task(2, Some(&long)));
    for lock in &mut made.0.locks {
        lock.name.name = Some(long.clone());
        lock.name.type_name = Some(format!("Mutex<{long}>"));
        lock.waiters[0].site.as_mut().unwrap().file = format!("/{}", "folder/".repeat(40)).into();
    }
    for holder in made.0.holders.as_mut().unwrap() {
        holder.site.as_mut().unwrap().file = "x".repeat(400).into();
    }
    let mut report = report(&made);
    for lock in &mut report.snapshot.locks {
        lock.waiters[0].state = State::Skipped;
    }
    report.process.program = Some(long);
    let text = report.to_string();
    let longest = text.lines().map(|line| line.chars().count()).max();
    assert!(longest <= Some(100), "{longest:?}\n{text}");
    assert!(text.lines().count() < 60 && text.chars().all(|c| c == '\n' || !c.is_control()), "{text}");
}

/// A deadlock is not lost among waits that are long.
#[test]
fn faults_are_printed_however_many_waits_are_long() {
    let mut made = abba(thread(1, "alpha"), thread(2, "beta"));
    for word in 0..10_000 {
        made = made.lock(0x1000 + word * 8, LockKind::Mutex, None);
        made = made.waits(task(word, None), Access::Exclusive, "src/a.rs:1", 900 + word % 50);
    }
    made.0.recording.as_mut().unwrap().unrecorded = 7_000;
    let report = report(&made);
    assert!(report.findings.len() > 10_000);
    let text = report.to_string();
    assert!(
        text.contains(
            "\n7000 acquisitions were not recorded because no record was free: a deadlock may be missed\n"
        ),
        "{text}"
    );
    assert!(text.contains("\ndeadlock: 2 members, youngest wait 2.2 s\n"), "{text}");
    assert!(text.contains("\n... and 9992 more long waits\n") && !text.contains("fault"), "{text}");
    assert!(text.lines().count() < 120, "{text}");
}

#[test]
fn ten_thousand_waiters_are_counted_and_not_all_printed() {
    for words in [1, 100, 10_000] {
        let mut made = Made::new();
        for word in 0..words {
            made = made.lock(word * 8, LockKind::Mutex, None);
            for waiter in 0..10_000 / words {
                made = made.waits(
                    task(word * 10_000 + waiter, None),
                    Access::Exclusive,
                    "src/a.rs:1",
                    900 + word % 50,
                );
            }
        }
        let report = Report { findings: Vec::new(), ..report(&made) };
        let text = report.to_string();
        let locks = if words == 1 { "1 lock\n".to_owned() } else { format!("{words} locks\n") };
        assert!(
            text.starts_with(&format!("waitword: pool (process 4242): 10000 waiters at {locks}")),
            "{text}"
        );
        assert!(text.lines().count() < 320, "{text}");
        if words == 1 {
            assert!(text.ends_with("           ... and 9990 more waiters, longest 1.9 s\n"), "{text}");
        } else {
            let rest = format!(
                "\n... and {} more locks with {} waiters, longest 1.9 s\n",
                words - 20,
                10_000 - 200_000 / words
            );
            assert!(text.ends_with(&rest), "{text}");
        }
        assert_eq!(Report::from_json(&report.to_json()), Ok(report));
    }
}

#[test]
fn numbers_of_a_report_that_was_read_may_be_any() {
    let mut report = everything();
    let row = Blame {
        blamed: Blamed::Unknown,
        kind: LockKind::Mutex,
        lock: None,
        type_name: None,
        releases: 1,
        waiters: 1,
        delay: Duration::MAX,
        longest: Duration::MAX,
        longest_at: None,
        waits: Vec::new(),
        holds: Vec::new(),
    };
    report.blame = vec![row; 12];
    for holder in report.snapshot.holders.iter_mut().flatten() {
        holder.permits = Some(u64::MAX);
    }
    assert!(report.to_string().contains("who made others wait"));
    let slow = Slow {
        lock: report.snapshot.locks[0].name.clone(),
        site: None,
        actor: thread(1, "gc"),
        held: None,
        waiters: 1,
        threads: Some(2),
        longest: Duration::MAX,
        longest_at: None,
    };
    assert!(slow.to_string().contains("(2 threads)"), "{slow}");
}
