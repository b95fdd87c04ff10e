//! Profiles of waits by site.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use flate2::read::GzDecoder;
use waitword_observe::{Access, LockKind, Profile};

use crate::{Made, millis, skip, task, thread};

fn profile() -> Profile {
    let mut made = Made::new()
        .lock(0xa0, LockKind::Mutex, Some("Mutex<Accounts>"))
        .waits(thread(1, "a"), Access::Exclusive, "src/pay.rs:41", 1_200)
        .waits(task(2, None), Access::Exclusive, "src/pay.rs:41", 300)
        .waits(task(3, None), Access::Exclusive, "src/http.rs:7", 40)
        .lock(0xb0, LockKind::Event, None)
        .waits(task(4, None), Access::Notification, "src/a;b.rs:9", 2)
        .waits(task(5, None), Access::Notification, "src/a;b.rs:9", 1)
        .but(|waiter| (waiter.age, waiter.site) = (None, None));
    made.0.locks[0].name.name = Some("accounts".into());
    Profile::of(&made.0)
}

#[test]
fn folded_stacks_add_up_by_lock_and_site() {
    let expected = "\
Mutex<Accounts> \"accounts\";src/http.rs:7 40000000
Mutex<Accounts> \"accounts\";src/pay.rs:41 1500000000
Event at 0xb0;unknown 0
Event at 0xb0;src/a:b.rs:9 2000000
";
    assert_eq!(profile().folded(), expected);
    let mut twice = profile();
    twice.add(&profile());
    let delay: Duration = twice.rows().map(|(_, _, waits)| waits.delay).sum();
    let count: u64 = twice.rows().map(|(_, _, waits)| waits.count).sum();
    assert_eq!((Some(delay), count), (millis(2 * 1_542), 10));
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..).step_by(7) {
        let (first, rest) = bytes.split_first().expect("a whole number");
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            break;
        }
    }
    number
}

/// What is in a message: numbers of fields, each with a number or with bytes.
fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let (number, length) = match tag & 7 {
            0 => (varint(&mut bytes), 0),
            2 => (0, varint(&mut bytes) as usize),
            other => panic!("wire type {other}"),
        };
        fields.push((tag >> 3, number, bytes.split_off(..length).expect("a whole field")));
    }
    fields
}

fn messages(bytes: &[u8], field: u64) -> Vec<&[u8]> {
    fields(bytes).into_iter().filter(|(of, ..)| *of == field).map(|(.., bytes)| bytes).collect()
}

fn number(bytes: &[u8], field: u64) -> u64 {
    fields(bytes).into_iter().find(|(of, ..)| *of == field).map_or(0, |(_, number, _)| number)
}

fn packed(mut bytes: &[u8]) -> Vec<u64> {
    let mut numbers = Vec::new();
    while !bytes.is_empty() {
        numbers.push(varint(&mut bytes));
    }
    numbers
}

fn unpacked(profile: &Profile) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(&profile.pprof()[..]).read_to_end(&mut bytes).unwrap();
    bytes
}

/// The table of strings.
fn texts(bytes: &[u8]) -> Vec<&str> {
    messages(bytes, 6).into_iter().map(|text| std::str::from_utf8(text).unwrap()).collect()
}

/// Names come from programs and scripts, and profiles go to terminals.
#[test]
fn control_characters_are_escaped() {
    let hostile = "a\u{1b}[2J\nb\u{7f}\u{9b}";
    let mut made = Made::new()
        .lock(0xa0, LockKind::Mutex, Some(&format!("Mutex<{hostile}>")))
        .waits(thread(1, "a"), Access::Exclusive, &format!("{hostile}.rs:41"), 1_200)
        .lock(0xb0, LockKind::Event, None)
        .waits(thread(1, "a"), Access::Notification, &format!("{hostile}:0"), 3);
    made.0.locks[0].name.name = Some(hostile.into());
    let profile = Profile::of(&made.0);
    let bytes = unpacked(&profile);
    let texts = texts(&bytes);
    let escaped = r"a\u{1b}[2J\nb\u{7f}\u{9b}";
    assert!(texts.contains(&&*format!("Mutex<{escaped}> \"{escaped}\"")), "{texts:?}");
    for text in texts.into_iter().chain(profile.folded().lines()) {
        assert!(!text.contains(char::is_control), "{text:?}");
    }
}

#[test]
fn pprof_has_gos_sample_types_and_a_stack_of_site_and_lock() {
    let bytes = unpacked(&profile());
    let texts = texts(&bytes);
    assert_eq!(texts[0], "");
    let text = |number: u64| texts[number as usize];
    let types: Vec<_> =
        messages(&bytes, 1).iter().map(|of| [text(number(of, 1)), text(number(of, 2))]).collect();
    assert_eq!(types, [["contentions", "count"], ["delay", "nanoseconds"]]);
    let functions = messages(&bytes, 5);
    let frame = |location: u64| {
        let location = *messages(&bytes, 4).iter().find(|of| number(of, 1) == location).unwrap();
        let line = messages(location, 4)[0];
        let function = *functions.iter().find(|of| number(of, 1) == number(line, 1)).unwrap();
        format!("{}|{}|{}", text(number(function, 2)), text(number(function, 4)), number(line, 2))
    };
    let mut samples: Vec<_> = messages(&bytes, 2)
        .iter()
        .map(|sample| {
            let stack: Vec<String> = packed(messages(sample, 1)[0]).into_iter().map(frame).collect();
            (stack.join(" < "), packed(messages(sample, 2)[0]))
        })
        .collect();
    samples.sort();
    let accounts = "Mutex<Accounts> \"accounts\"||0";
    let expected = [
        ("src/a;b.rs:9|src/a;b.rs|9 < Event at 0xb0||0".to_owned(), vec![1, 2_000_000]),
        (format!("src/http.rs:7|src/http.rs|7 < {accounts}"), vec![1, 40_000_000]),
        (format!("src/pay.rs:41|src/pay.rs|41 < {accounts}"), vec![2, 1_500_000_000]),
        ("unknown||0 < Event at 0xb0||0".to_owned(), vec![1, 0]),
    ];
    assert_eq!(samples, expected);
}

/// Where Go is installed.
#[test]
fn go_reads_the_profile() {
    let is_there =
        Command::new("go").arg("version").stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    if !is_there {
        return skip::skip("go tool pprof on a profile", "Go is not installed");
    }
    let path = std::env::temp_dir().join(format!("waitword-observe-{}.pb.gz", std::process::id()));
    std::fs::File::create(&path).unwrap().write_all(&profile().pprof()).unwrap();
    let top = |index: &str| {
        let line = ["tool", "pprof", "-top", &format!("-sample_index={index}")];
        let output = Command::new("go").args(line).arg(&path).output().unwrap();
        let [text, errors] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        assert!(output.status.success(), "{errors}");
        text
    };
    let [delay, count] = [top("delay"), top("contentions")];
    std::fs::remove_file(&path).unwrap();
    let row = |text: &str, site: &str| {
        let line =
            text.lines().find(|line| line.contains(site)).unwrap_or_else(|| panic!("no {site}: {text}"));
        line.split_whitespace().next().unwrap().to_owned()
    };
    assert!(delay.starts_with("Type: delay\n"), "{delay}");
    let of = [row(&delay, "src/pay.rs:41"), row(&delay, "src/http.rs:7"), row(&count, "src/pay.rs:41")];
    assert_eq!(of, ["1500ms", "40ms", "2"]);
    // Go leaves out what it takes for the arguments of a template.
    assert!(delay.contains("Mutex \"accounts\""), "{delay}");
}
