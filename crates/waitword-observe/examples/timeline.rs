//! Draws a timeline of threads and tasks on one mutex.
//!
//! `cargo run -p waitword-observe --example timeline -- timeline.svg` writes a picture; with a name that ends in `.json` it writes what
//! <https://ui.perfetto.dev> opens.

use std::thread;
use std::time::Duration;

use waitword::{Event, Mutex};
use waitword_observe::{name, snapshot};

static ACCOUNTS: Mutex<Vec<u64>> = Mutex::new(Vec::new());
static LOADED: Event = Event::new();

fn work(millis: u64) {
    thread::sleep(Duration::from_millis(millis));
}

fn main() {
    let path = std::env::args().nth(1).unwrap_or_else(|| "timeline.svg".to_owned());
    waitword_observe::enable();
    name(&ACCOUNTS, "accounts").forever();
    name(&LOADED, "loaded").forever();
    waitword_observe::trace_start_all();

    let held = ACCOUNTS.lock();
    thread::scope(|scope| {
        let named = |name: &str| thread::Builder::new().name(name.into());
        let audit = || {
            LOADED.wait();
            let accounts = ACCOUNTS.lock();
            work(6);
            drop(accounts);
        };
        let pay = || {
            for _ in 0..2 {
                let mut accounts = ACCOUNTS.lock();
                accounts.push(1);
                work(4);
                drop(accounts);
                work(3);
            }
        };
        let tasks = || {
            smol::block_on(async {
                let task = async |millis: u64| {
                    let accounts = ACCOUNTS.lock_async().await;
                    work(millis);
                    drop(accounts);
                };
                let executor = smol::LocalExecutor::new();
                let tasks = [executor.spawn(task(5)), executor.spawn(task(3)), executor.spawn(task(2))];
                executor
                    .run(async {
                        for task in tasks {
                            task.await
                        }
                    })
                    .await;
            });
        };
        let spawned = [
            named("audit").spawn_scoped(scope, audit),
            named("pay").spawn_scoped(scope, pay),
            named("executor").spawn_scoped(scope, tasks),
        ];
        spawned.into_iter().for_each(|thread| drop(thread.expect("a thread")));
        while snapshot().waiters() < 5 {
            thread::yield_now();
        }
        work(5);
        LOADED.notify_all();
        drop(held);
    });

    let trace = waitword_observe::trace_stop().expect("it was started");
    let text = if path.ends_with(".json") { trace.to_chrome_json() } else { trace.to_svg() };
    std::fs::write(&path, text).expect("the file can be written");
    println!("{path}: {} events", trace.events.len());
}
