//! Two processes of 40 tasks and 4 threads each, and somebody who breaks what they stand on.

use std::process::Command;
use std::time::{Duration, Instant};

use waitword_postgres::migrate;

use crate::counter::{Counter, number};
use crate::process::Process;
use crate::server::Database;
use crate::{LIMIT, block_on, block_on_for, until};

/// What an attack does to the server processes of waitword's sessions.
const ATTACKS: [&str; 3] = ["terminate", "cancel", "kill"];

#[test]
fn sessions_that_are_terminated_cancelled_and_killed_lose_no_count() {
    attack(4);
}

#[test]
#[ignore = "a minute"]
fn sessions_that_are_terminated_cancelled_and_killed_for_a_minute_lose_no_count() {
    attack(60);
}

fn attack(seconds: u32) {
    let Some(database) = Database::alone() else { return };
    let mut processes = both(&database, "attacked", seconds);
    let start = Instant::now();
    let (mut attacks, mut last) = ([0; 3], Duration::ZERO);
    block_on_for(LIMIT + Duration::from_secs(u64::from(seconds)), async {
        while start.elapsed() < Duration::from_secs(u64::from(seconds)) {
            // Every 0.3 s. The server restarts after a kill, so that these are fewer.
            tokio::time::sleep((last + Duration::from_millis(300)).saturating_sub(start.elapsed())).await;
            last = start.elapsed();
            let Ok(counter) = Counter::connect(&database.address()).await else { continue };
            let number = attacks.iter().sum::<i32>();
            let attack = if number % 10 == 9 { 2 } else { number as usize % 2 };
            if against(&counter, ATTACKS[attack]).await {
                attacks[attack] += 1;
            }
        }
    });
    let said = processes.each_mut().map(|process| process.line());
    processes.iter_mut().for_each(Process::ends_well);
    let value = block_on(async { Counter::connect(&database.address()).await.unwrap().value().await });
    println!("{said:?}: the value is {value}, after attacks {ATTACKS:?} {attacks:?}");
    let counted: i64 = said.iter().map(|line| number_before(line, " counted")).sum();
    // A commit whose answer did not come counts, and nobody knows.
    assert!(counted > 0 && value >= counted, "{said:?}, {value}");
    assert!(attacks[..2].iter().all(|attacks| *attacks > 0), "{attacks:?}");
}

/// Returns whether there was one to attack. While the server restarts, there is none.
async fn against(counter: &Counter, attack: &str) -> bool {
    let sessions = "FROM pg_locks WHERE locktype = 'advisory' AND classid = 2002876276 AND objsubid = 2 AND mode = 'ExclusiveLock'";
    let one = format!("{sessions} ORDER BY random() LIMIT 1");
    match attack {
        "kill" => {
            let Ok(pid) = number(&counter.client, &format!("SELECT pid::bigint {one}")).await else {
                return false;
            };
            Command::new("kill")
                .args(["-s", "KILL", &pid.to_string()])
                .status()
                .is_ok_and(|status| status.success())
        }
        // Statements are short, so that all are cancelled, again and again.
        "cancel" => {
            let all = format!("SELECT count(pg_cancel_backend(pid)) {sessions}");
            for _ in 0..50 {
                if number(&counter.client, &all).await.is_err() {
                    return false;
                }
            }
            true
        }
        _ => number(&counter.client, &format!("SELECT pg_terminate_backend(pid)::integer::bigint {one}"))
            .await
            .is_ok(),
    }
}

#[test]
fn cancelled_acquisitions_leave_nothing_locked() {
    cancel(15);
}

#[test]
#[ignore = "some minutes"]
fn twenty_thousand_cancelled_acquisitions_leave_nothing_locked() {
    cancel(250);
}

/// Each count of a task comes after an acquisition that is dropped at some moment.
fn cancel(rounds: u32) {
    let Some(database) = Database::new() else { return };
    let mut processes = both(&database, "cancelling", rounds);
    let said = processes.each_mut().map(|process| process.line());
    println!("{said:?}");
    processes.iter_mut().for_each(Process::ends_well);
    let cancelled: i64 = said.iter().map(|line| number_before(line, " cancelled")).sum();
    assert_eq!(cancelled, i64::from(2 * 40 * rounds), "{said:?}");
    block_on(async {
        let counter = Counter::connect(&database.address()).await.unwrap();
        assert_eq!(counter.value().await, i64::from(2 * 44 * rounds));
        let left =
            "SELECT (SELECT count(*) FROM waitword.waiters) + (SELECT count(session) FROM waitword.locks)";
        until(async || number(&counter.client, left).await.unwrap() == 0).await;
    });
}

fn both(database: &Database, mode: &str, rounds: u32) -> [Process; 2] {
    block_on(async {
        migrate(&database.config()).await.unwrap();
        Counter::make(database).await;
    });
    let mut processes = [(); 2].map(|()| Process::start(database, mode, rounds));
    processes.iter_mut().for_each(Process::go);
    processes
}

/// Of a line such as `3 counted, 2 lost`.
fn number_before(line: &str, word: &str) -> i64 {
    let (before, _) = line.split_once(word).unwrap();
    before.rsplit(' ').next().unwrap().parse().unwrap()
}
