//! Two processes of 40 tasks and 4 threads each, and somebody who breaks what they stand on.

use std::process::Command;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use waitword_postgres::tokio_postgres;

use crate::counter::{Counter, number};
use crate::process::Process;
use crate::proxy::Proxy;
use crate::server::Database;
use crate::{LIMIT, block_on, until};

/// What is done every 0.3 s: to server processes of waitword's sessions, and to the connections of the second process. Each tenth time, a
/// server process is killed, after which the server restarts.
const ATTACKS: [&str; 5] = ["terminate", "cancel", "cut", "stall", "kill"];

#[test]
fn two_processes_under_attack_lose_no_count() {
    attack(3);
}

#[test]
#[ignore = "a minute"]
fn two_processes_under_attack_for_a_minute_lose_no_count() {
    attack(60);
}

/// For so long, and until there were attacks of each kind.
fn attack(seconds: u64) {
    let Some(database) = Database::alone() else { return };
    // The proxy runs in it until both processes have ended.
    let runtime = Runtime::new().unwrap();
    let proxy = runtime.block_on(Proxy::start(&database, Duration::ZERO));
    // Until then, a connection that is stalled while it begins keeps its process waiting, and one that is cut off in a transaction keeps the
    // row of the check.
    let limits = "connect_timeout=10 options='-c idle_in_transaction_session_timeout=2s'";
    let addresses = [database.address(), database.address_at(proxy.port)];
    let addresses = addresses.map(|address| format!("{address} {limits}"));
    let mut processes = both(&database, addresses, "attacked", 0);
    let start = Instant::now();
    let mut attacks = [0; ATTACKS.len()];
    runtime.block_on(async {
        for number in 0.. {
            tokio::time::sleep(Duration::from_millis(300)).await;
            if start.elapsed() > Duration::from_secs(seconds) && !attacks.contains(&0) {
                break;
            }
            assert!(start.elapsed() < LIMIT, "there were none of some kind: {attacks:?}");
            let attack = if number % 10 == 4 { 4 } else { number % 4 };
            let is_done = match ATTACKS[attack] {
                "cut" => {
                    proxy.cut();
                    true
                }
                "stall" => {
                    proxy.stall_old_ones();
                    true
                }
                // While the server restarts, there is none to attack.
                attack => against_server(&database, attack).await.unwrap_or(false),
            };
            attacks[attack] += u32::from(is_done);
        }
    });
    processes.iter_mut().for_each(Process::attacks_are_over);
    let said = processes.each_mut().map(|process| process.line());
    processes.iter_mut().for_each(Process::ends_well);
    let value = block_on(async { Counter::connect(&database.address()).await.unwrap().value().await });
    println!("{said:?}: the value is {value}, after attacks {ATTACKS:?} {attacks:?}");
    let counted: i64 = said.iter().map(|line| number_before(line, " counted")).sum();
    // A commit whose answer did not come counts, and nobody knows.
    assert!(counted > 0 && value >= counted, "{said:?}, {value}");
}

async fn against_server(database: &Database, attack: &str) -> Result<bool, tokio_postgres::Error> {
    const SESSIONS: &str =
        "FROM pg_locks WHERE locktype = 'advisory' AND classid = 2002876276 AND mode = 'ExclusiveLock'";
    let one = format!("{SESSIONS} ORDER BY random() LIMIT 1");
    let client = Counter::connect(&database.address()).await?.client;
    match attack {
        // Statements are short: of all sessions, again and again.
        "cancel" => {
            for _ in 0..50 {
                number(&client, &format!("SELECT count(pg_cancel_backend(pid)) {SESSIONS}")).await?;
            }
            Ok(true)
        }
        "terminate" => {
            Ok(number(&client, &format!("SELECT pg_terminate_backend(pid)::integer::bigint {one}")).await?
                == 1)
        }
        _ => {
            let process = number(&client, &format!("SELECT pid::bigint {one}")).await?.to_string();
            Ok(Command::new("kill")
                .args(["-s", "KILL", &process])
                .status()
                .is_ok_and(|status| status.success()))
        }
    }
}

#[test]
fn cancelled_acquisitions_leave_nothing_locked() {
    cancel(10);
}

#[test]
#[ignore = "some minutes"]
fn twenty_thousand_cancelled_acquisitions_leave_nothing_locked() {
    cancel(250);
}

/// Each count of a task comes after an acquisition that is dropped at some moment.
fn cancel(rounds: u32) {
    let Some(database) = Database::new() else { return };
    let mut processes = both(&database, [database.address(), database.address()], "cancelling", rounds);
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

/// Two processes that have begun.
pub(crate) fn both(database: &Database, addresses: [String; 2], mode: &str, rounds: u32) -> [Process; 2] {
    block_on(Counter::with_schema(database));
    let mut processes = addresses.map(|address| Process::start(&address, mode, rounds));
    processes.iter_mut().for_each(Process::go);
    processes
}

/// Of a line such as `3 counted, 2 lost`.
fn number_before(line: &str, word: &str) -> i64 {
    let (before, _) = line.split_once(word).unwrap();
    before.rsplit(' ').next().unwrap().parse().unwrap()
}
