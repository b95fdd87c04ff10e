//! Locks and computations by key: `waitword::keyed` beside what people use today.
//!
//! In each round every contender runs once; a table has the medians. `--quick` takes fewer keys and rounds.

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, LazyLock, Mutex, OnceLock};
use std::thread;
use std::time::Instant;

use dashmap::DashMap;
use futures_lite::future::{block_on, yield_now};
use lockmap::LockMap;
use tokio::runtime::{Builder, Runtime};
use waitword::keyed::{KeyedMutex, OnceMap};

/// How much is measured.
struct Scale {
    rounds: usize,
    /// In one round, of all threads or tasks together.
    turns: u64,
}

fn main() {
    let scale = match std::env::args().any(|arg| arg == "--quick") {
        true => Scale { rounds: 3, turns: 100_000 },
        false => Scale { rounds: 9, turns: 1_000_000 },
    };
    println!("Nanoseconds of wall time for each of {} turns. A cold key is asked for once.\n", scale.turns);
    table(
        "locks",
        &scale,
        &[
            ("waitword", locks::<KeyedMutex<u64>>),
            ("`DashMap` of std's", locks::<DashMap<u64, Arc<Mutex<()>>>>),
            ("`DashMap` of tokio's", locks::<DashMap<u64, Arc<tokio::sync::Mutex<()>>>>),
            ("`HashMap` of tokio's", locks::<Mutex<HashMap<u64, Arc<tokio::sync::Mutex<()>>>>>),
            ("lockmap", locks::<LockMap<u64, ()>>),
            ("keyed-lock", locks::<KeyedLock>),
        ],
    );
    println!();
    table(
        "computations",
        &scale,
        &[
            ("waitword", computations::<OnceMap<u64, u64>>),
            ("moka, sync", computations::<moka::sync::Cache<u64, u64>>),
            ("moka, future", computations::<moka::future::Cache<u64, u64>>),
            ("`DashMap` of `OnceLock`", computations::<DashMap<u64, Arc<OnceLock<u64>>>>),
        ],
    );
}

/// A contender's figures, by their names. `None`: it does not do that.
type Figures = Vec<(&'static str, Option<f64>)>;

/// Measures, and prints a row for each figure.
fn table(title: &str, scale: &Scale, contenders: &[(&str, fn(u64) -> Figures)]) {
    let mut rounds = Vec::new();
    for round in 0..scale.rounds {
        let mut figures = vec![Vec::new(); contenders.len()];
        for index in (0..contenders.len()).map(|index| (round + index) % contenders.len()) {
            figures[index] = contenders[index].1(scale.turns);
        }
        rounds.push(figures);
    }
    println!("| {title} |{}", contenders.iter().map(|(name, _)| format!(" {name} |")).collect::<String>());
    println!("|---|{}", "---:|".repeat(contenders.len()));
    for (row, (what, _)) in rounds[0][0].iter().enumerate() {
        let cell = |contender: usize| {
            let figures = rounds.iter().map(|round| round[contender][row].1).collect::<Option<Vec<_>>>();
            figures.map_or(" – |".to_owned(), |mut figures| {
                figures.sort_by(f64::total_cmp);
                format!(" {:.0} |", figures[figures.len() / 2])
            })
        };
        println!("| {what} |{}", (0..contenders.len()).map(cell).collect::<String>());
    }
}

/// What is asked by key: a lock, or a value that is computed once.
trait ByKey: Send + Sync + Sized + 'static {
    /// Whether threads block on it, and whether tasks await it.
    const THREADS: bool = true;
    const TASKS: bool = true;

    fn new() -> Self;

    /// Locks the key, runs [`section`] and unlocks it; or gets the value of the key, by [`compute`] if there is none.
    fn turn(&self, key: u64) {
        block_on(self.turn_async(key));
    }

    fn turn_async(&self, key: u64) -> impl Future<Output = ()> + Send {
        async move { self.turn(key) }
    }

    /// The number of entries at this moment. `None`: it cannot tell, or is a map of values, which stay.
    fn entries(&self) -> Option<usize> {
        None
    }
}

/// Sections that ended, or computations.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Loses a count if two run at once.
fn section() {
    COUNT.store(COUNT.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

fn compute(key: u64) -> u64 {
    COUNT.fetch_add(1, Ordering::Relaxed);
    key
}

fn locks<L: ByKey>(turns: u64) -> Figures {
    let hot = |callers| {
        COUNT.store(0, Ordering::Relaxed);
        let time = measure(&Arc::new(L::new()), callers, turns, |_| 1);
        assert!(time.is_none() || COUNT.load(Ordering::Relaxed) == turns, "they exclude each other");
        time
    };
    let cold = |callers| measure(&Arc::new(L::new()), callers, turns, mixed);
    let map = Arc::new(L::new());
    let callers = if L::THREADS { Callers::Threads(1) } else { Callers::Tasks(1) };
    measure(&map, callers, 1_000, mixed);
    vec![
        ("uncontended, a thread", hot(Callers::Threads(1))),
        ("uncontended, a task", hot(Callers::Tasks(1))),
        ("one hot key, 16 threads", hot(Callers::Threads(16))),
        ("one hot key, 16 tasks", hot(Callers::Tasks(16))),
        ("cold keys, a thread", cold(Callers::Threads(1))),
        ("cold keys, a task", cold(Callers::Tasks(1))),
        ("cold keys, 16 threads", cold(Callers::Threads(16))),
        ("cold keys, 16 tasks", cold(Callers::Tasks(16))),
        ("entries left of 1,000", map.entries().map(|entries| entries as f64)),
    ]
}

fn computations<M: ByKey>(turns: u64) -> Figures {
    let ask = |callers, key: fn(u64) -> u64, keys| {
        COUNT.store(0, Ordering::Relaxed);
        let time = measure(&Arc::new(M::new()), callers, turns, key);
        assert!(time.is_none() || COUNT.load(Ordering::Relaxed) == keys, "each is computed once");
        time
    };
    vec![
        ("the value is there, a thread", ask(Callers::Threads(1), |_| 1, 1)),
        ("the value is there, a task", ask(Callers::Tasks(1), |_| 1, 1)),
        ("the value is there, 16 threads", ask(Callers::Threads(16), |_| 1, 1)),
        ("the value is there, 16 tasks", ask(Callers::Tasks(16), |_| 1, 1)),
        ("cold keys, a thread", ask(Callers::Threads(1), mixed, turns)),
        ("cold keys, a task", ask(Callers::Tasks(1), mixed, turns)),
        ("cold keys, 16 threads", ask(Callers::Threads(16), mixed, turns)),
        ("cold keys, 16 tasks", ask(Callers::Tasks(16), mixed, turns)),
    ]
}

/// A key of its own for each turn, in no order.
fn mixed(turn: u64) -> u64 {
    turn.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Who takes the turns, each an equal part of them.
#[derive(Clone, Copy)]
enum Callers {
    Threads(u64),
    Tasks(u64),
}

/// The time of a turn. `None`: it does not serve such callers.
fn measure<M: ByKey>(map: &Arc<M>, callers: Callers, turns: u64, key: fn(u64) -> u64) -> Option<f64> {
    /// Two workers, as many as the machine of the published figures has CPUs.
    static RUNTIME: LazyLock<Runtime> =
        LazyLock::new(|| Builder::new_multi_thread().worker_threads(2).build().unwrap());

    let parts = |callers| (0..callers).map(move |part| part * turns / callers..(part + 1) * turns / callers);
    let time = match callers {
        Callers::Threads(callers) => {
            let start = M::THREADS.then(|| Barrier::new(callers as usize + 1))?;
            thread::scope(|scope| {
                let threads: Vec<_> = parts(callers)
                    .map(|part| {
                        scope.spawn(|| {
                            start.wait();
                            part.map(key).for_each(|key| map.turn(key));
                        })
                    })
                    .collect();
                start.wait();
                let start = Instant::now();
                threads.into_iter().for_each(|thread| thread.join().unwrap());
                start.elapsed()
            })
        }
        Callers::Tasks(callers) => {
            let start = M::TASKS.then(Instant::now)?;
            let task = |part: std::ops::Range<u64>| {
                let map = Arc::clone(map);
                RUNTIME.spawn(async move {
                    for key in part.map(key) {
                        map.turn_async(key).await;
                        // Another task may run.
                        if callers > 1 {
                            yield_now().await;
                        }
                    }
                })
            };
            let tasks: Vec<_> = parts(callers).map(task).collect();
            tasks.into_iter().for_each(|task| block_on(task).unwrap());
            start.elapsed()
        }
    };
    Some(time.as_nanos() as f64 / turns as f64)
}

impl ByKey for KeyedMutex<u64> {
    fn new() -> Self {
        Self::new()
    }

    fn turn(&self, key: u64) {
        let _guard = self.lock(key);
        section();
    }

    async fn turn_async(&self, key: u64) {
        let _guard = self.lock_async(key).await;
        section();
    }

    fn entries(&self) -> Option<usize> {
        Some(self.len())
    }
}

/// The entries stay.
impl ByKey for DashMap<u64, Arc<Mutex<()>>> {
    const TASKS: bool = false;

    fn new() -> Self {
        Self::new()
    }

    fn turn(&self, key: u64) {
        let lock = Arc::clone(&self.entry(key).or_default());
        let _guard = lock.lock().unwrap();
        section();
    }

    fn entries(&self) -> Option<usize> {
        Some(self.len())
    }
}

/// The entries stay.
impl ByKey for DashMap<u64, Arc<tokio::sync::Mutex<()>>> {
    const THREADS: bool = false;

    fn new() -> Self {
        Self::new()
    }

    async fn turn_async(&self, key: u64) {
        let lock = Arc::clone(&self.entry(key).or_default());
        let _guard = lock.lock().await;
        section();
    }

    fn entries(&self) -> Option<usize> {
        Some(self.len())
    }
}

/// The entries stay.
impl ByKey for Mutex<HashMap<u64, Arc<tokio::sync::Mutex<()>>>> {
    fn new() -> Self {
        Self::default()
    }

    fn turn(&self, key: u64) {
        let lock = Arc::clone(self.lock().unwrap().entry(key).or_default());
        let _guard = lock.blocking_lock();
        section();
    }

    async fn turn_async(&self, key: u64) {
        let lock = Arc::clone(self.lock().unwrap().entry(key).or_default());
        let _guard = lock.lock().await;
        section();
    }

    fn entries(&self) -> Option<usize> {
        Some(self.lock().unwrap().len())
    }
}

impl ByKey for LockMap<u64, ()> {
    const TASKS: bool = false;

    fn new() -> Self {
        Self::new()
    }

    fn turn(&self, key: u64) {
        let _guard = self.entry(key);
        section();
    }

    fn entries(&self) -> Option<usize> {
        Some(self.len())
    }
}

/// A lock for threads, and another for tasks.
struct KeyedLock(keyed_lock::sync::KeyedLock<u64>, keyed_lock::r#async::KeyedLock<u64>);

impl ByKey for KeyedLock {
    fn new() -> Self {
        Self(keyed_lock::sync::KeyedLock::new(), keyed_lock::r#async::KeyedLock::new())
    }

    fn turn(&self, key: u64) {
        let _guard = self.0.lock(key);
        section();
    }

    async fn turn_async(&self, key: u64) {
        let _guard = self.1.lock(key).await;
        section();
    }
}

impl ByKey for OnceMap<u64, u64> {
    fn new() -> Self {
        Self::new()
    }

    fn turn(&self, key: u64) {
        assert_eq!(self.get_or_init(key, || compute(key)), key);
    }

    async fn turn_async(&self, key: u64) {
        assert_eq!(self.get_or_init_async(key, async || compute(key)).await, key);
    }
}

impl ByKey for moka::sync::Cache<u64, u64> {
    const TASKS: bool = false;

    /// Without a bound, so that nothing is evicted.
    fn new() -> Self {
        Self::builder().build()
    }

    fn turn(&self, key: u64) {
        assert_eq!(self.get_with(key, || compute(key)), key);
    }
}

impl ByKey for moka::future::Cache<u64, u64> {
    const THREADS: bool = false;

    /// As above.
    fn new() -> Self {
        Self::builder().build()
    }

    async fn turn_async(&self, key: u64) {
        assert_eq!(self.get_with(key, async { compute(key) }).await, key);
    }
}

impl ByKey for DashMap<u64, Arc<OnceLock<u64>>> {
    const TASKS: bool = false;

    fn new() -> Self {
        Self::new()
    }

    fn turn(&self, key: u64) {
        let cell = Arc::clone(&self.entry(key).or_default());
        assert_eq!(*cell.get_or_init(|| compute(key)), key);
    }
}
