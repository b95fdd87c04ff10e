//! What another process does.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use std::{env, thread};

use tokio::runtime::Handle;
use tokio::time::timeout;
use waitword::Mutex;
use waitword_postgres::tokio_postgres;
use waitword_postgres::{Cluster, ClusterGuard, ClusterMutex};

use crate::counter::{Counter, is_refusal};
use crate::server::patient;
use crate::{LIMIT, block_on_for, until};

const TASKS: u32 = 40;
const THREADS: u32 = 4;

/// Whoever waits longer for a lock has been forgotten.
const PATIENCE: Duration = Duration::from_secs(180);

/// When attacked, a session for the table that takes longer was stalled while nobody held the lock: the lock's own session has been replaced
/// since, so nothing else tells its user.
const SECTION: Duration = Duration::from_secs(10);

#[test]
#[ignore = "other tests start it as a process"]
fn worker() {
    let Ok(what) = env::var("WAITWORD_WORKER") else { return };
    let [address, mode, rounds] = what.split('|').collect::<Vec<_>>()[..] else { panic!("{what}") };
    let rounds = rounds.parse().unwrap();
    block_on_for(LIMIT * 10, async {
        if mode == "leased" {
            return crate::pools::work(address).await;
        }
        let worker = Arc::new(Worker::new(address, mode, rounds).await);
        say("ready");
        tokio::task::spawn_blocking(|| io::stdin().read_line(&mut String::new())).await.unwrap().unwrap();
        let attacked = Arc::clone(&worker);
        thread::spawn(move || {
            // Its end is that of the attacks.
            io::stdin().read_line(&mut String::new()).unwrap();
            attacked.is_over.store(true, Ordering::SeqCst);
        });
        if mode == "hold" { worker.hold().await } else { worker.work().await }
    });
}

struct Worker {
    address: String,
    mutex: ClusterMutex,
    /// The session for the table, which the holder of the lock uses alone. None after a failure.
    counter: Mutex<Option<Counter>>,
    mode: String,
    /// Of each task and thread, unless attacked.
    rounds: u32,
    /// The attacks are.
    is_over: AtomicBool,
    counted: AtomicU32,
    lost: AtomicU32,
    told: Arc<AtomicU32>,
    cancelled: AtomicU32,
}

impl Worker {
    async fn new(address: &str, mode: &str, rounds: u32) -> Self {
        let told = Arc::new(AtomicU32::new(0));
        let tells = Arc::clone(&told);
        // Whom nobody attacks loses no lock, however slow the machine is.
        let limit = if mode == "attacked" { Duration::from_secs(1) } else { LIMIT };
        let config = patient(address).answer_limit(limit).on_lost(move |_| {
            tells.fetch_add(1, Ordering::SeqCst);
        });
        let cluster = Cluster::connect(config).await.unwrap();
        Self {
            address: address.to_owned(),
            mutex: cluster.mutex("counter").unwrap(),
            counter: Mutex::default(),
            mode: mode.to_owned(),
            rounds,
            is_over: false.into(),
            counted: 0.into(),
            lost: 0.into(),
            told,
            cancelled: 0.into(),
        }
    }

    /// Holds the lock until it is lost, and then counts all the same.
    async fn hold(&self) {
        let guard = self.mutex.lock_async().await.unwrap();
        let fence = guard.fence().unwrap();
        say(&format!("holds {fence}"));
        guard.lost().await;
        assert!(guard.fence().is_err() && guard.unlock_async().await.is_err());
        let error = self.add_one(fence).await.unwrap_err();
        say(if is_refusal(&error) { "refused" } else { "failed" });
    }

    /// All tasks and threads of the process count.
    async fn work(self: &Arc<Self>) {
        let task = |worker: Arc<Self>, number: u32| async move {
            for round in (0..).take_while(|round| worker.goes_on(*round)) {
                if worker.mode != "unchecked" {
                    worker.cancel(number + round).await;
                }
                let guard = worker.mutex.lock_async_for(PATIENCE).await.unwrap();
                worker.section(guard).await;
            }
        };
        let tasks: Vec<_> = (0..TASKS).map(|number| tokio::spawn(task(Arc::clone(self), number))).collect();
        let thread = |worker: Arc<Self>, runtime: Handle| {
            for _ in (0..).take_while(|round| worker.goes_on(*round)) {
                let guard = worker.mutex.lock_for(PATIENCE).unwrap();
                runtime.block_on(worker.section(guard));
            }
        };
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let (worker, runtime) = (Arc::clone(self), Handle::current());
                thread::spawn(move || thread(worker, runtime))
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        until(async || threads.iter().all(thread::JoinHandle::is_finished)).await;
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let [counted, lost, cancelled] =
            [&self.counted, &self.lost, &self.cancelled].map(|count| count.load(Ordering::SeqCst));
        until(async || self.told.load(Ordering::SeqCst) >= lost).await;
        say(&format!("{counted} counted, {lost} lost, {cancelled} cancelled"));
    }

    fn goes_on(&self, round: u32) -> bool {
        match &*self.mode {
            "attacked" => !self.is_over.load(Ordering::SeqCst),
            _ => round < self.rounds,
        }
    }

    /// Acquires until an acquisition is dropped before it is done, after some polls of other tasks.
    async fn cancel(&self, seed: u32) {
        for attempt in 0.. {
            let moment = (seed + attempt).wrapping_mul(2_654_435_761) >> 27;
            let others = async {
                for _ in 0..moment {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                biased;
                guard = self.mutex.lock_async() => drop(guard.unwrap()),
                () = others => break,
            }
        }
        self.cancelled.fetch_add(1, Ordering::SeqCst);
    }

    async fn section(&self, guard: ClusterGuard) {
        let limit = if self.mode == "attacked" { SECTION } else { PATIENCE };
        if let Ok(fence) = guard.fence() {
            match guard.run(timeout(limit, self.add_one(fence))).await {
                Ok(Ok(Ok(()))) => drop(self.counted.fetch_add(1, Ordering::SeqCst)),
                Ok(Ok(Err(error))) => {
                    assert_eq!(self.mode, "attacked", "{error:?}");
                    if is_refusal(&error) {
                        timeout(PATIENCE, guard.lost()).await.expect("whoever is refused has lost the lock");
                    }
                    *self.counter.lock_async().await = None;
                }
                Ok(Err(late)) => {
                    assert_eq!(self.mode, "attacked", "{late}");
                    *self.counter.lock_async().await = None;
                }
                // Its session for the table may hang, too.
                Err(_) => *self.counter.lock_async().await = None,
            }
        }
        if let Err(lost) = guard.unlock_async().await {
            assert_eq!(self.mode, "attacked", "{lost}");
            self.lost.fetch_add(1, Ordering::SeqCst);
        }
    }

    async fn add_one(&self, fence: i64) -> Result<(), tokio_postgres::Error> {
        let mut counter = self.counter.lock_async().await;
        if counter.is_none() {
            *counter = Some(Counter::connect(&self.address).await?);
        }
        counter.as_mut().unwrap().add_one(fence, self.mode != "unchecked").await
    }
}

/// Between lines of the test's frame.
pub(crate) fn say(line: &str) {
    println!("\nworker: {line}");
    io::stdout().flush().unwrap();
}
