//! Runs a case, and compares what it did with what it says.

use std::env::consts::EXE_SUFFIX;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use libtest_mimic::Failed;

use crate::case::{Case, Stdout, split};
use crate::program::{Ran, ended, folder, measured, waitword};
use crate::skip::skip;

/// `SharedArrayBuffer.prototype.grow`, `Array.prototype.toSpliced`.
const OLDEST_NODE: u32 = 20;

/// Runs the case with the command, and where it says so on Node, whose output is compared with that.
pub(crate) fn run(case: &Case, has_node: bool) -> Result<(), Failed> {
    let folder = written(case);
    let ran = match case.memory {
        None => quick(case, || {
            ended(waitword().args(case.command()).current_dir(&folder).envs(case.environment.clone()))
        }),
        Some(most) => {
            let flags: Vec<&str> = case.flags.split_whitespace().collect();
            let (ran, peak) = measured(&folder, &flags, &case.files[0].1);
            if peak.is_some_and(|peak| peak >= most << 20) {
                return Err(format!("{}: {peak:?} bytes of memory", case.path.display()).into());
            }
            ran
        }
    };
    if case.stdout != Stdout::AsOnNode {
        is_as_said(case, &ran, &folder)?;
    }
    if has_node && (case.is_on_node || case.stdout == Stdout::AsOnNode) {
        is_as_on_node(case, &ran, &folder)
    } else {
        Ok(())
    }
}

fn is_as_said(case: &Case, ran: &Ran, folder: &Path) -> Result<(), Failed> {
    let printed = shown(case, ran, folder);
    let mut wrong = case.variant().map_or_else(String::new, |text| format!("with {text}\n"));
    let before = wrong.len();
    if ran.code != Some(case.code) {
        writeln!(wrong, "exit code {:?} instead of {}", ran.code, case.code)?;
    }
    wrong += &difference(&case.lines, &printed);
    let report = masked(&ran.stderr);
    for part in &case.complaints {
        let part = part.replace("$DIR", &folder.to_string_lossy());
        if !ran.stderr.contains(&part) && !report.contains(&part) {
            writeln!(wrong, "not in the standard error: {part:?}")?;
        }
    }
    let expected = words(&case.report);
    if !expected.is_empty() && report != expected {
        writeln!(wrong, "the report is {report}")?;
    }
    for part in case.lacks.iter().filter(|part| ran.stderr.contains(*part)) {
        writeln!(wrong, "in the standard error: {part:?}")?;
    }
    if !case.may_complain && !ran.stderr.is_empty() {
        wrong += "there is a standard error\n";
    }
    if wrong.len() == before {
        return Ok(());
    }
    if std::env::var_os("WAITWORD_BLESS").is_some_and(|value| !value.is_empty()) && case.can_be_blessed() {
        bless(case, &printed);
    }
    Err(format!("{}\n{wrong}--- standard error\n{}", case.path.display(), ran.stderr).into())
}

/// Runs it; if all of its report is known, until it was quick: after a second of a wait, a report says that it is long, or that nobody is known
/// who could end it.
fn quick(case: &Case, run: impl Fn() -> Ran) -> Ran {
    let is_quick = |ran: &Ran| case.report.is_empty() || !ran.stderr.contains("longest");
    (0..9).map(|_| run()).find(is_quick).unwrap_or_else(run)
}

/// A report in one line, without what differs from run to run: the times, the number of the process, and the ends of the lines, which a
/// longer time moves.
fn masked(report: &str) -> String {
    let report = report.replace(&format!("waitword{EXE_SUFFIX} (process"), "waitword (process");
    let mut masked: Vec<String> = Vec::new();
    for word in report.split_whitespace() {
        let last = masked.last().map_or("", String::as_str);
        let unit = word.trim_end_matches([';', ',', ':']);
        if matches!(unit, "us" | "ms" | "s") && last.parse::<f64>().is_ok() {
            masked.pop();
            masked.push(format!("T{}", &word[unit.len()..]));
        } else if last == "(process" {
            masked.push(format!("N{}", word.trim_start_matches(|c: char| c.is_ascii_digit())));
        } else {
            masked.push(word.to_owned());
        }
    }
    masked.join(" ")
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Runs the case on Node too, which prints the same lines.
fn is_as_on_node(case: &Case, here: &Ran, folder: &Path) -> Result<(), Failed> {
    let mut node = Command::new("node");
    // Warnings about what is experimental in one version or another are no output.
    node.arg("--no-warnings").arg(&case.files[0].0).args(&case.arguments).current_dir(folder);
    let node = ended(node.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()));
    let deviates = |line: &&str, check: &String| {
        // `ok  what was asked: what came out`; what was asked may have colons too.
        line.get(4..).is_some_and(|rest| rest.starts_with(&format!("{check}: ")))
    };
    let compared = |ran: &Ran| -> Vec<String> {
        let is_compared = |line: &&str| !case.deviations.iter().any(|check| deviates(line, check));
        ran.stdout.lines().filter(is_compared).map(str::to_owned).collect()
    };
    let mut wrong = difference(&compared(&node), &compared(here));
    for check in &case.deviations {
        if !here.stdout.lines().any(|line| deviates(&line, check)) {
            writeln!(wrong, "no line has the check {check:?}")?;
        }
    }
    if case.deviations.is_empty() && here.code != node.code {
        writeln!(wrong, "exit code {:?}, and on Node {:?}", here.code, node.code)?;
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => {
            let [here, node] = [&here.stderr, &node.stderr];
            Err(format!("{}\n{wrong}--- standard error\n{here}--- on Node\n{node}", case.path.display())
                .into())
        }
    }
}

/// Whether there is a Node to compare with; if not, this is said.
pub(crate) fn has_node() -> bool {
    let asked = Command::new("node").arg("--version").output();
    let version = asked.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let major = |version: &str| version.strip_prefix('v')?.split('.').next()?.parse::<u32>().ok();
    let why = match version {
        Err(error) => format!("cannot start node: {error}"),
        Ok(version) => match major(&version) {
            Some(OLDEST_NODE..) => return true,
            _ => format!("node is {version:?}, and {OLDEST_NODE} is needed"),
        },
    };
    skip("the comparison with Node", &why);
    false
}

/// Writes the program into a folder of its own, if it is to have one.
fn written(case: &Case) -> PathBuf {
    if case.is_in_place {
        return case.path.parent().unwrap().to_owned();
    }
    let folder = folder(&format!("scripts/{}", case.name.replace(':', "-")));
    let support = case.path.with_file_name("support");
    if support.is_dir() {
        copy(&support, &folder.join("support"));
    }
    for (name, text) in &case.files {
        fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
        fs::write(folder.join(name), text).unwrap();
    }
    folder
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// The lines of the standard output, as the case is to have them.
fn shown(case: &Case, ran: &Ran, folder: &Path) -> Vec<String> {
    let stdout = ran.stdout.replace(&*folder.to_string_lossy(), "$DIR");
    let mut lines: Vec<_> = stdout.lines().map(str::to_owned).collect();
    if !case.runs() {
        // Help has lines of spaces.
        lines.iter_mut().for_each(|line| line.truncate(line.trim_end().len()));
    }
    match case.stdout {
        Stdout::Exact => {}
        Stdout::Sorted => lines.sort(),
        Stdout::Starts => lines.truncate(case.lines.len()),
        // Those that do not hold are left.
        Stdout::Checks if !lines.is_empty() => lines.retain(|line| !line.starts_with("ok  ")),
        Stdout::Checks => lines.push("(nothing)".to_owned()),
        Stdout::Any | Stdout::AsOnNode => lines.clone_from(&case.lines),
    }
    lines
}

/// What is to be printed and is not, and the reverse, between the lines that both begin and end with.
fn difference(expected: &[String], printed: &[String]) -> String {
    let shorter = expected.len().min(printed.len());
    let same =
        |pairs: &mut dyn Iterator<Item = (&String, &String)>| pairs.take_while(|(a, b)| a == b).count();
    let first = same(&mut expected.iter().zip(printed));
    let last = same(&mut expected.iter().rev().zip(printed.iter().rev())).min(shorter - first);
    if first == expected.len() && first == printed.len() {
        return String::new();
    }
    let marked = |mark: &str, lines: &[String]| -> String {
        lines.iter().map(|line| format!("{mark} {line}\n")).collect()
    };
    [
        marked(" ", &expected[..first]),
        marked("-", &expected[first..expected.len() - last]),
        marked("+", &printed[first..printed.len() - last]),
        marked(" ", &expected[expected.len() - last..]),
    ]
    .concat()
}

/// Writes what was printed into the case.
fn bless(case: &Case, printed: &[String]) {
    let text = fs::read_to_string(&case.path).unwrap();
    let (head, _) = split(&text);
    let rest = &text[head.len()..];
    let mut blessed: String =
        head.lines().filter(|line| !line.starts_with("//>")).flat_map(|line| [line, "\n"]).collect();
    for line in printed {
        blessed += format!("//> {line}").trim_end();
        blessed += "\n";
    }
    fs::write(&case.path, blessed + rest).unwrap();
}
