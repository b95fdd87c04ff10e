//! A program that is stuck, in a process of its own, and what it prints.

use std::process::{Command, Output, exit};
use std::thread;
use std::time::{Duration, Instant};

use waitword::Mutex;
use waitword_observe::{Finding, Report, enable, name, report};

/// The files with scenarios, in whose lines the marks are.
const SOURCES: [(&str, &str); 6] = [
    ("guards", include_str!("guards.rs")),
    ("notifies", include_str!("notifies.rs")),
    ("reactions", include_str!("reactions.rs")),
    ("tasks", include_str!("tasks.rs")),
    ("threads", include_str!("threads.rs")),
    ("types", include_str!("types.rs")),
];

const SCENARIO: &str = "WAITWORD_TEST_SCENARIO";

/// In the process of a scenario, the rest of its life: waits until the report is as `stuck` expects, prints it, and ends.
pub(crate) fn run(stuck: impl FnOnce(&str) -> fn(&Report) -> bool) {
    let Ok(scenario) = std::env::var(SCENARIO) else { return };
    enable();
    let (scenario, is_json) = match scenario.strip_suffix(" json") {
        Some(scenario) => (scenario, true),
        None => (&*scenario, false),
    };
    let is_expected = stuck(scenario);
    let start = Instant::now();
    loop {
        let mut report = report();
        // On a busy machine a signalled thread may run late, and that is charged.
        report.blame.clear();
        // So it is with the waits of a cycle: after a second they are long as well.
        if has_cycle(&report) {
            report.findings.retain(|finding| !matches!(finding, Finding::LongWait(_)));
        }
        assert!(start.elapsed() < Duration::from_secs(60), "not so:\n{report}");
        if is_expected(&report) {
            match is_json {
                true => println!("<<<{}>>>", report.to_json()),
                false => println!("<<<{report}>>>"),
            }
            exit(0);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn has_cycle(report: &Report) -> bool {
    report.findings.iter().any(|finding| matches!(finding, Finding::Cycle(_)))
}

/// What the process of that scenario printed, and how it ended.
pub(crate) fn output_of(scenario: &str) -> Output {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "scenario", "--ignored", "--nocapture"]).env(SCENARIO, scenario);
    child.output().unwrap()
}

/// The report of that scenario.
pub(crate) fn shown(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, from) = text.split_once("<<<").unwrap_or_else(|| panic!("{text}\n{output:?}"));
    from.split_once(">>>").unwrap().0.to_owned()
}

/// The report of that scenario, masked.
pub(crate) fn report_of(scenario: &str) -> String {
    masked(&shown(&output_of(scenario)))
}

/// Times, addresses, numbers of processes and of threads without a name are `#`, runs of white space are one space, and lines are marks.
/// Tasks are numbered as they come in the text: their own numbers depend on which of them an earlier snapshot saw.
pub(crate) fn masked(report: &str) -> String {
    let (mut words, mut tasks): (Vec<String>, Vec<&str>) = (Vec::new(), Vec::new());
    for word in report.split_whitespace() {
        let core = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '…');
        let last = words.last().cloned().unwrap_or_default();
        let number = |word: &str| word.trim_start_matches('(').parse::<f64>().is_ok();
        if let Some((_, site)) = core.split_once("tests/deadlocks/") {
            let (file, line) = site.split_once(".rs:").unwrap();
            let (_, source) = SOURCES.iter().find(|(name, _)| *name == file).unwrap();
            let line = source.lines().nth(line.parse::<usize>().unwrap() - 1).unwrap();
            let mark = line.split_once("// ").unwrap_or_else(|| panic!("no mark: {line}")).1;
            words.push(word.replace(core, &format!("<{mark}>")));
        } else if core.starts_with("0x") {
            words.push(word.replace(core, "#"));
        } else if matches!(core, "us" | "ms" | "s") && number(&last) {
            words.pop();
            words.push("#".to_owned() + word.trim_start_matches(char::is_alphabetic));
        } else if last == "(process" {
            words.push(word.replace(core, "#"));
        } else if last == "task" && number(core) {
            let task = tasks.iter().position(|task| *task == core).unwrap_or_else(|| {
                tasks.push(core);
                tasks.len() - 1
            });
            words.push(word.replace(core, &(task + 1).to_string()));
        } else {
            words.push(word.to_owned());
        }
    }
    let program = words[1].clone();
    words.join(" ").replace(&program, "deadlocks")
}

pub(crate) fn expect(scenario: &str, expected: &str) {
    let expected = expected.split_whitespace().collect::<Vec<_>>().join(" ");
    let report = report_of(scenario);
    assert!(report == expected, "\n{report}\ninstead of\n{expected}");
}

pub(crate) fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

pub(crate) fn named<T>(value: T, text: &str) -> &'static Mutex<T> {
    let mutex = leak(Mutex::new(value));
    name(mutex, text).forever();
    mutex
}

pub(crate) fn spawn(name: &str, run: impl FnOnce() + Send + 'static) {
    thread::Builder::new().name(name.into()).spawn(run).unwrap();
}

pub(crate) fn until_waiting(thread: &str) {
    let waits = || {
        waitword::observe::snapshot().iter().any(|waiter| match &waiter.actor {
            waitword::observe::Actor::Thread(waiting) => waiting.name() == Some(thread),
            _ => false,
        })
    };
    while !waits() {
        thread::yield_now();
    }
}
