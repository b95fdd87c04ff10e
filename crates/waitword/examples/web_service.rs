//! A service over TCP: each connection is a task, and a thread saves what the requests change.
//!
//! ```text
//! cargo run -p waitword --example web_service
//! ```
//!
//! `ADD name points` is answered with what `name` has then, once that is in the file; `GET name` with what it has. A write to the file
//! blocks the thread that makes it, so that has a thread of its own, and one write serves all requests that have come meanwhile. Requests wait for that
//! thread, and the thread for requests, on the same objects:
//!
//! | what | waiters | with |
//! |---|---|---|
//! | `scores: Mutex` | requests; the thread | `lock_async`; `lock` |
//! | `changed: Condvar` | the thread, for something to save | `wait_while` |
//! | `saved: Condvar` | requests, until it is saved | `wait_while_async` |
//! | `seats: Semaphore` | connections, so that few are served at a time | `acquire_async` |
//! | `stop: Event` | the task that accepts connections, in a `select!` | `wait_async` |
//! | `connections: WaitGroup` | the end, for what has begun | `wait_async` |

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::{fmt, fs, mem, thread};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime;
use waitword::{Condvar, Event, Mutex, Semaphore, WaitGroup, forbid_blocking};

const CLIENTS: usize = 8;
const SEATS: usize = 4;
const REQUESTS: u64 = 200;
const NAMES: [&str; 3] = ["ann", "bob", "cleo"];

/// Starts the service, lets clients loose on it, ends it, and says whether its file is right.
fn main() -> io::Result<ExitCode> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("scores.txt");
    let service = Arc::new(Service::new());
    let saver = thread::spawn({
        let (service, path) = (Arc::clone(&service), file.clone());
        move || service.save_changes(&path)
    });
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_io()
        // Tasks run on these threads. If one of them called `lock` where it has to wait, this says so at once.
        .on_thread_start(|| mem::forget(forbid_blocking()))
        .build()?;
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?;
    let server = runtime.spawn(Arc::clone(&service).accept(listener));

    let clients: Vec<_> = (0..CLIENTS).map(|number| thread::spawn(move || client(address, number))).collect();
    for client in clients {
        client.join().expect("a client that does not panic")?;
    }

    service.stop.notify_one();
    runtime.block_on(server).expect("a task that does not panic")?;
    service.close();
    let writes = saver.join().expect("a thread that does not panic")?;
    let text = fs::read_to_string(&file)?;
    Ok(report(&service.scores.lock(), writes, &text))
}

struct Service {
    scores: Mutex<Scores>,
    /// There is something to save, or there will be nothing any more.
    changed: Condvar,
    /// Something has been saved, or cannot be.
    saved: Condvar,
    seats: Semaphore,
    stop: Event,
}

#[derive(Default)]
struct Scores {
    points: BTreeMap<String, u64>,
    /// How many changes there were, and how many of them are in the file.
    changes: u64,
    saved: u64,
    state: State,
}

#[derive(Default, PartialEq)]
enum State {
    #[default]
    Open,
    Closing,
    /// The file cannot be written.
    Broken,
}

impl Service {
    fn new() -> Self {
        Self {
            scores: Mutex::default(),
            changed: Condvar::new(),
            saved: Condvar::new(),
            seats: Semaphore::new(SEATS),
            stop: Event::new(),
        }
    }

    /// Takes connections until `stop` is notified, and then waits for those that it has.
    async fn accept(self: Arc<Self>, listener: TcpListener) -> io::Result<()> {
        let connections = Arc::new(WaitGroup::new());
        loop {
            let stream = tokio::select! {
                accepted = listener.accept() => accepted?.0,
                // If the other branch wins, this future is dropped, and a wakeup that it had got stays stored.
                () = self.stop.wait_async() => break,
            };
            // Taken before the task begins, and dropped with it, however it ends.
            let token = connections.add_owned();
            let service = Arc::clone(&self);
            tokio::spawn(async move {
                let _token = token;
                let Ok(_seat) = service.seats.acquire_async().await else { return };
                if let Err(error) = service.serve(stream).await {
                    eprintln!("a connection broke: {error}");
                }
            });
        }
        connections.wait_async().await;
        Ok(())
    }

    async fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        let (read, mut write) = stream.split();
        let mut lines = BufReader::new(read).lines();
        while let Some(line) = lines.next_line().await? {
            let answer = self.answer(&line).await;
            write.write_all(format!("{answer}\n").as_bytes()).await?;
        }
        Ok(())
    }

    async fn answer(&self, request: &str) -> String {
        let words: Vec<&str> = request.split_whitespace().collect();
        match words[..] {
            ["ADD", name, points] => {
                let Ok(points) = points.parse() else { return "ERROR points are a whole number".to_owned() };
                let total = self.add(name, points).await;
                total.map_or("ERROR it cannot be saved".to_owned(), |total| total.to_string())
            }
            ["GET", name] => {
                self.scores.lock_async().await.points.get(name).copied().unwrap_or(0).to_string()
            }
            _ => "ERROR say: ADD name points, or: GET name".to_owned(),
        }
    }

    /// Adds points, and is ready with the sum once it is in the file. `None` if that cannot be written.
    async fn add(&self, name: &str, points: u64) -> Option<u64> {
        let mut scores = self.scores.lock_async().await;
        let total = scores.points.entry(name.to_owned()).or_default();
        *total = total.saturating_add(points);
        let total = *total;
        scores.changes += 1;
        let change = scores.changes;
        self.changed.notify_one();
        let scores = self
            .saved
            .wait_while_async(scores, |scores| scores.saved < change && scores.state != State::Broken)
            .await;
        (scores.saved >= change).then_some(total)
    }

    /// What the thread does until the service is closed. Returns how often it has written.
    fn save_changes(&self, path: &Path) -> io::Result<u64> {
        let mut writes = 0;
        let mut scores = self.scores.lock();
        loop {
            let is_idle = |scores: &mut Scores| scores.changes == scores.saved && scores.state == State::Open;
            self.changed.wait_while(&mut scores, is_idle);
            if scores.changes == scores.saved {
                return Ok(writes);
            }
            let (changes, text) = (scores.changes, scores.to_string());
            // Requests go on while this thread writes.
            drop(scores);
            let written = save(path, &text);
            scores = self.scores.lock();
            match &written {
                Ok(()) => scores.saved = changes,
                Err(_) => scores.state = State::Broken,
            }
            self.saved.notify_all();
            written?;
            writes += 1;
        }
    }

    /// Lets the thread end when all is saved.
    fn close(&self) {
        let mut scores = self.scores.lock();
        if scores.state == State::Open {
            scores.state = State::Closing;
        }
        self.changed.notify_one();
    }
}

/// One score per line.
impl fmt::Display for Scores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.points.iter().try_for_each(|(name, points)| writeln!(f, "{name} {points}"))
    }
}

/// A reader of the file finds the old text or the new one, and nothing between.
fn save(path: &Path, text: &str) -> io::Result<()> {
    let new = path.with_extension("new");
    fs::write(&new, text)?;
    fs::rename(&new, path)
}

/// A thread with a socket of the standard library: it knows nothing of tasks.
fn client(address: SocketAddr, number: usize) -> io::Result<()> {
    let stream = std::net::TcpStream::connect(address)?;
    let mut answers = io::BufReader::new(stream.try_clone()?).lines();
    let name = NAMES[number % NAMES.len()];
    let mut before = 0;
    for _ in 0..REQUESTS {
        (&stream).write_all(format!("ADD {name} 1\n").as_bytes())?;
        let answer = answers.next().ok_or(io::ErrorKind::UnexpectedEof)??;
        let total: u64 = answer.parse().map_err(|_| io::Error::other(answer))?;
        assert!(total > before, "points get more");
        before = total;
    }
    Ok(())
}

fn report(scores: &Scores, writes: u64, file: &str) -> ExitCode {
    println!("{CLIENTS} clients, {SEATS} served at a time, {REQUESTS} requests each\n");
    for (name, points) in &scores.points {
        println!("  {name:<8}{points:>6} points");
    }
    let (total, expected) = (scores.points.values().sum::<u64>(), CLIENTS as u64 * REQUESTS);
    let right = total == expected && file == scores.to_string();
    println!("\n  one thread wrote the file {writes} times for {expected} changes");
    println!("  total {total} of {expected}: {}", if right { "all saved" } else { "POINTS LOST" });
    if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
