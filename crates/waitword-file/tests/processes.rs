//! One lock over many processes: nothing is lost, whoever dies, gives up, or deletes the file.

use std::fs;
use std::future::IntoFuture;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::pin::Pin;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use waitword_file::{Error, FileGuard, FileMutex, Locking, Options};

/// This test, run again as another process.
fn process(role: &str, path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "another_process", "--nocapture", "--ignored"])
        .env("ROLE", role)
        .env("LOCK", path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits for a line that the other process prints.
fn says(child: &mut Child, what: &str) {
    let stdout = child.stdout.as_mut().unwrap();
    // Bytes one by one: nothing that comes later is swallowed.
    let (mut line, mut byte) = (Vec::new(), [0]);
    while stdout.read(&mut byte).unwrap() == 1 {
        match byte {
            [b'\n'] if line == what.as_bytes() => return,
            [b'\n'] => line.clear(),
            [byte] => line.push(byte),
        }
    }
    panic!("it ended without saying {what}");
}

/// What the other process does.
#[test]
#[ignore = "a process of the other tests"]
fn another_process() {
    let lock = FileMutex::open(std::env::var_os("LOCK").unwrap()).unwrap();
    match std::env::var("ROLE").unwrap().as_str() {
        "adds" => adds(&lock),
        "holds" => {
            let _guard = lock.lock().unwrap();
            println!("\nholds");
            let _ = std::io::stdin().read(&mut [0]);
        }
        "shares" => {
            let _guard = lock.lock_shared().unwrap();
            println!("\nshares");
            let _ = std::io::stdin().read(&mut [0]);
        }
        "waits" => {
            println!("\nwaits");
            let _guard = lock.lock().unwrap();
            println!("\ngot it");
            let _ = std::io::stdin().read(&mut [0]);
        }
        #[cfg(target_os = "linux")]
        "waits behind itself" => {
            let guard = lock.lock().unwrap();
            let mut queued = lock.lock_async().into_future();
            assert!(poll(&mut queued).is_pending());
            // Longer than the tenure.
            thread::sleep(Duration::from_millis(200));
            let before = sleeps().expect("it waits for the end of the tenure");
            thread::sleep(Duration::from_millis(300));
            let slept = sleeps().unwrap() - before;
            assert!(slept < 10, "{slept} times in 300 ms");
            drop((guard, queued));
            println!("\nslept seldom");
        }
        role => panic!("no role {role}"),
    }
}

const EACH: u64 = 20_000 / 8 / 8;

fn add(guard: FileGuard) {
    let mut text = String::new();
    guard.file().seek(SeekFrom::Start(0)).unwrap();
    guard.file().read_to_string(&mut text).unwrap();
    let count = text.parse().unwrap_or(0_u64);
    guard.file().seek(SeekFrom::Start(0)).unwrap();
    write!(guard.file(), "{:020}", count + 1).unwrap();
}

/// By another descriptor: all readers share the place in the file that is locked.
fn look(lock: &FileMutex, guard: FileGuard) {
    assert_eq!(fs::read(lock.path()).unwrap().len() % 20, 0);
    drop(guard);
}

/// Four threads and four tasks, each of which adds one many times, and looks at the sum in between.
fn adds(lock: &FileMutex) {
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..EACH {
                    add(lock.lock().unwrap());
                    look(lock, lock.lock_shared().unwrap());
                }
            });
        }
        let tasks: Vec<_> = (0..4)
            .map(|_| {
                let lock = lock.clone();
                smol::spawn(async move {
                    for _ in 0..EACH {
                        add(lock.lock_async().await.unwrap());
                    }
                })
            })
            .collect();
        smol::block_on(async {
            for task in tasks {
                task.await;
            }
        });
    });
    println!("\nadded {}", 8 * EACH);
}

#[test]
fn eight_processes_of_threads_and_tasks_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let mut children: Vec<_> = (0..8).map(|_| process("adds", &path)).collect();
    let added: u64 = children
        .iter_mut()
        .map(|child| {
            let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
            let added =
                lines.filter_map(|line| line.strip_prefix("added ")?.parse::<u64>().ok()).sum::<u64>();
            assert!(child.wait().unwrap().success());
            added
        })
        .sum();
    assert_eq!(added, 8 * 8 * EACH);
    assert_eq!(fs::read_to_string(&path).unwrap().parse::<u64>().unwrap(), added);
}

#[test]
fn the_lock_of_a_process_that_is_killed_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let mut holder = process("holds", &path);
    says(&mut holder, "holds");
    let lock = FileMutex::open(&path).unwrap();
    assert!(lock.try_lock().unwrap().is_none());
    if cfg!(target_os = "linux") {
        assert_eq!(lock.holders(), [holder.id()]);
    }
    thread::scope(|scope| {
        let thread = scope.spawn(|| drop(lock.lock().unwrap()));
        let task = smol::spawn({
            let lock = lock.clone();
            async move { drop(lock.lock_async().await.unwrap()) }
        });
        holder.kill().unwrap();
        thread.join().unwrap();
        smol::block_on(task);
    });
    holder.wait().unwrap();
    assert!(lock.holders().is_empty());
}

#[test]
fn a_timeout_names_the_process_that_holds_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let mut holder = process("holds", &path);
    says(&mut holder, "holds");
    let lock = FileMutex::open(&path).unwrap();
    let soon = Duration::from_millis(20);
    let start = Instant::now();
    let errors = [
        lock.lock_for(soon).unwrap_err(),
        smol::block_on(async { lock.lock_async().timeout(soon).await }).unwrap_err(),
    ];
    assert!(start.elapsed() >= 2 * soon);
    for error in errors {
        let Error::TimedOut { holders, .. } = &error else { panic!("{error}") };
        if cfg!(target_os = "linux") {
            assert_eq!(holders, &[holder.id()]);
            assert!(error.to_string().ends_with(&format!("is locked by process {}", holder.id())), "{error}");
        }
    }
    drop(holder.stdin.take());
    holder.wait().unwrap();
    drop(lock.lock().unwrap());
}

/// The system's list moves while it is read.
#[cfg(target_os = "linux")]
#[test]
fn holders_are_known_while_other_locks_come_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let mut holder = process("holds", &path);
    says(&mut holder, "holds");
    let lock = FileMutex::open(&path).unwrap();
    let ends = AtomicBool::new(false);
    let known = thread::scope(|scope| {
        for name in ["one", "two"] {
            let file = fs::File::create(folder.path().join(name)).unwrap();
            let ends = &ends;
            scope.spawn(move || {
                while !ends.load(Ordering::SeqCst) {
                    file.lock().unwrap();
                    file.unlock().unwrap();
                }
            });
        }
        let known = (0..2_000).filter(|_| lock.holders() == [holder.id()]).count();
        ends.store(true, Ordering::SeqCst);
        known
    });
    assert_eq!(known, 2_000);
    drop(holder.stdin.take());
    holder.wait().unwrap();
}

/// Neither costs anything, nor is the lock left locked: another process gets it as soon as the holder releases it.
#[test]
fn a_thousand_futures_are_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let mut holder = process("holds", &path);
    says(&mut holder, "holds");
    let lock = FileMutex::open(&path).unwrap();
    for _ in 0..1_000 {
        let mut wait = lock.lock_async().into_future();
        assert!(poll(&mut wait).is_pending());
    }
    // One that is not polled any more is in nobody's way, in this process or in another.
    let mut unpolled = lock.lock_async().into_future();
    assert!(poll(&mut unpolled).is_pending());
    drop(holder.stdin.take());
    holder.wait().unwrap();
    drop(lock.lock().unwrap());
    let mut other = process("holds", &path);
    says(&mut other, "holds");
    drop(other.stdin.take());
    other.wait().unwrap();
    drop(smol::block_on(unpolled).unwrap());
}

fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn readers_of_two_processes_share_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let mut reader = process("shares", &path);
    says(&mut reader, "shares");
    let lock = FileMutex::open(&path).unwrap();
    let own =
        (lock.lock_shared().unwrap(), smol::block_on(async { lock.lock_shared_async().await }).unwrap());
    assert!(lock.try_lock().unwrap().is_none());
    drop(own);
    assert!(lock.try_lock().unwrap().is_none(), "the other's");
    assert!(lock.try_lock_shared().unwrap().is_some());
    thread::scope(|scope| {
        let writer = scope.spawn(|| lock.lock().unwrap());
        drop(reader.stdin.take());
        reader.wait().unwrap();
        drop(writer.join().unwrap());
    });
    assert!(lock.try_lock().unwrap().is_some());
}

/// The waiter locks the file that is at the path when it gets the lock.
#[cfg(unix)]
#[test]
fn a_file_that_is_deleted_while_somebody_waits_is_not_locked_in_the_void() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let mut holder = process("holds", &path);
    says(&mut holder, "holds");
    let mut waiter = process("waits", &path);
    says(&mut waiter, "waits");
    fs::remove_file(&path).unwrap();
    let lock = FileMutex::open(&path).unwrap();
    drop(holder.stdin.take());
    holder.wait().unwrap();
    says(&mut waiter, "got it");
    assert!(lock.try_lock().unwrap().is_none(), "both have the file that is there now");
    drop(waiter.stdin.take());
    waiter.wait().unwrap();
    let guard = lock.lock().unwrap();
    assert!(guard.is_in_place().unwrap());
    fs::rename(&path, folder.path().join("elsewhere")).unwrap();
    assert!(!guard.is_in_place().unwrap());
}

/// A folder of the path has become a file.
#[cfg(unix)]
#[test]
fn each_waiter_is_told_what_the_system_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let (place, moved) = (folder.path().join("place"), folder.path().join("moved"));
    fs::create_dir(&place).unwrap();
    let path = place.join("lock");
    let mut holder = process("holds", &path);
    says(&mut holder, "holds");
    let lock = FileMutex::open(&path).unwrap();
    let thread = thread::spawn({
        let lock = lock.clone();
        move || lock.lock()
    });
    let mut tasks = [lock.lock_async(), lock.lock_shared_async()].map(IntoFuture::into_future);
    assert!(tasks.iter_mut().all(|task| poll(task).is_pending()));
    fs::rename(&place, &moved).unwrap();
    fs::write(&place, "").unwrap();
    drop(holder.stdin.take());
    holder.wait().unwrap();
    assert!(matches!(thread.join().unwrap(), Err(Error::Io { .. })));
    for task in tasks {
        assert!(matches!(smol::block_on(task), Err(Error::Io { .. })));
    }
    fs::remove_file(&place).unwrap();
    fs::rename(&moved, &place).unwrap();
    assert!(lock.lock().unwrap().is_in_place().unwrap());
}

/// It hands the lock on to its own waiters for a tenure, here none, not for ever: then other processes have their chance first.
#[test]
fn a_tenure_ends_though_others_of_the_process_wait() {
    let folder = tempfile::tempdir().unwrap();
    let lock = Options::default().tenure(Duration::ZERO).open(folder.path().join("lock")).unwrap();
    let is_left_to_others = |_: &u32| {
        let guard = lock.lock().unwrap();
        let mut own = lock.lock_async().into_future();
        assert!(poll(&mut own).is_pending());
        drop(guard);
        poll(&mut own).is_pending()
    };
    // Now and then the process has it back before the poll, or its thread has taken it from a waiter that was let in.
    assert!((0..40).filter(is_left_to_others).count() > 10);
}

/// Others of the process wait whenever a tenure ends. So each is followed by a rest, and in a time of fifty rests there are no more tenures than that,
/// however fast the machine is.
#[test]
fn a_process_rests_between_two_tenures() {
    const RESTS: u32 = 50;
    let folder = tempfile::tempdir().unwrap();
    let lock = Options::default().tenure(Duration::ZERO).open(folder.path().join("lock")).unwrap();
    let mut guard = lock.lock().unwrap();
    let (start, mut tenures) = (Instant::now(), 0);
    while start.elapsed() < RESTS * Duration::from_millis(2) {
        let mut own = lock.lock_async().into_future();
        assert!(poll(&mut own).is_pending());
        drop(guard);
        guard = smol::block_on(own).unwrap();
        tenures += 1;
    }
    assert!(tenures <= RESTS, "{tenures} tenures");
}

/// How often the thread of this crate has slept, in this process.
#[cfg(target_os = "linux")]
fn sleeps() -> Option<u64> {
    let tasks = fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
    let is_ours = |task: &std::path::PathBuf| {
        fs::read_to_string(task.join("comm")).is_ok_and(|name| name == "waitword-file\n")
    };
    let count = |task: std::path::PathBuf| {
        let status = fs::read_to_string(task.join("status")).ok()?;
        status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")?.trim().parse::<u64>().ok())
    };
    tasks.filter(is_ours).filter_map(count).max()
}

/// In a process of its own, where no other lock has such a thread.
#[cfg(target_os = "linux")]
#[test]
fn nobody_polls_while_the_lock_is_held_for_long() {
    let folder = tempfile::tempdir().unwrap();
    let mut waiter = process("waits behind itself", &folder.path().join("lock"));
    says(&mut waiter, "slept seldom");
    assert!(waiter.wait().unwrap().success());
}

/// Polls its future whenever it is woken, at once.
struct Polls(Mutex<Option<<Locking as IntoFuture>::IntoFuture>>, AtomicUsize);

impl Wake for Polls {
    fn wake(self: Arc<Self>) {
        let waker = Waker::from(Arc::clone(&self));
        let mut future = self.0.lock().unwrap();
        self.1.fetch_add(1, Ordering::SeqCst);
        if let Some(Poll::Ready(guard)) =
            future.as_mut().map(|future| future.as_mut().poll(&mut Context::from_waker(&waker)))
        {
            *future = None;
            drop(guard.unwrap());
        }
    }
}

/// The last reader of the process lets it through, while the system's lock is shared still.
#[test]
fn a_writer_is_not_let_in_by_the_readers_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let mut reader = process("shares", &path);
    says(&mut reader, "shares");
    let lock = FileMutex::open(&path).unwrap();
    let own = lock.lock_shared().unwrap();
    let writer = Arc::new(Polls(Mutex::new(Some(lock.lock_async().into_future())), AtomicUsize::new(0)));
    Arc::clone(&writer).wake();
    drop(own);
    assert!(writer.0.lock().unwrap().is_some(), "the other process reads");
    assert!(writer.1.load(Ordering::SeqCst) >= 2, "it was woken");
    drop(reader.stdin.take());
    reader.wait().unwrap();
    while writer.0.lock().unwrap().is_some() {
        thread::yield_now();
    }
}

#[test]
fn bad_places_are_clear_errors() {
    let folder = tempfile::tempdir().unwrap();
    let says = |path: &Path| FileMutex::open(path).unwrap_err().to_string();
    assert!(says(folder.path()).contains("it is a directory"), "{}", says(folder.path()));
    let missing = folder.path().join("missing").join("lock");
    assert!(says(&missing).contains("cannot be locked: "), "{}", says(&missing));
    assert!(says(Path::new("/")).contains("it is a directory"));
    // A disk without space.
    if Path::new("/dev/full").exists() {
        let lock = FileMutex::open("/dev/full").unwrap();
        let guard = lock.lock().unwrap();
        assert_eq!(guard.file().write(b"x").unwrap_err().kind(), std::io::ErrorKind::StorageFull);
    }
}

#[test]
fn nothing_waits_where_blocking_is_forbidden() {
    let folder = tempfile::tempdir().unwrap();
    let lock = FileMutex::open(folder.path().join("lock")).unwrap();
    let guard = lock.lock().unwrap();
    let _forbidden = waitword::forbid_blocking();
    assert!(matches!(lock.lock(), Err(Error::BlockingForbidden)));
    drop(guard);
    assert!(lock.lock().is_ok(), "it need not wait");
}
