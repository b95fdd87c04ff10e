//! Sections under the lock of a file, of the tasks of one process and of several: `waitword-file` beside other file locks, for which a thread blocks
//! in the system's call.
//!
//! A section adds one to a number in the file, so that a section that was not alone is noticed. In each round every contender runs once; the
//! table has the medians. `--quick` runs for shorter.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime::Builder;
use tokio::task::spawn_blocking;
use waitword_file::FileMutex;

const CONTENDERS: [&str; 4] = ["waitword-file", "fd-lock", "fs4", "`File::lock`"];
/// Processes, and tasks of each.
const SCENES: [(u64, u64); 4] = [(1, 1), (1, 16), (4, 1), (4, 16)];

fn main() {
    let args: Vec<_> = std::env::args().collect();
    if let [_, contender, path, tasks, millis] = &args[..] {
        let time = Duration::from_millis(millis.parse().unwrap());
        return process(contender, Path::new(path), tasks.parse().unwrap(), time);
    }
    let (rounds, time) = match args.iter().any(|arg| arg == "--quick") {
        true => (1, Duration::from_millis(300)),
        false => (5, Duration::from_secs(2)),
    };
    println!(
        "Sections per second; of several processes, the fewest of one by the most; the threads of a process.\n"
    );
    println!("| processes × tasks |{}", CONTENDERS.map(|name| format!(" {name} |")).concat());
    println!("|---|{}", "---:|".repeat(CONTENDERS.len()));
    for (processes, tasks) in SCENES {
        let mut outcomes = CONTENDERS.map(|_| Vec::new());
        for turn in 0..rounds * CONTENDERS.len() {
            let contender = (turn + turn / CONTENDERS.len()) % CONTENDERS.len();
            outcomes[contender].push(scene(CONTENDERS[contender], processes, tasks, time));
        }
        let cells = outcomes.map(|outcomes| {
            let of = |figure: fn(&Outcome) -> f64| {
                let mut figures: Vec<_> = outcomes.iter().map(figure).collect();
                figures.sort_by(f64::total_cmp);
                figures[figures.len() / 2]
            };
            format!(
                " {:.0}; {:.2}; {:.0} |",
                of(|it| it.per_second),
                of(|it| it.evenness),
                of(|it| it.threads)
            )
        });
        println!("| {processes} × {tasks} |{}", cells.concat());
    }
}

struct Outcome {
    per_second: f64,
    evenness: f64,
    threads: f64,
}

fn scene(contender: &str, processes: u64, tasks: u64, time: Duration) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    std::fs::write(&path, [0; 8]).unwrap();
    let start = |_| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg(contender).arg(&path).args([tasks.to_string(), time.as_millis().to_string()]);
        command.stdout(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..processes).map(start).collect();
    let said = children.into_iter().map(|child| {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{contender}");
        let text = String::from_utf8(output.stdout).unwrap();
        let (sections, threads) = text.trim().split_once(' ').unwrap();
        (sections.parse::<u64>().unwrap(), threads.parse::<u64>().unwrap())
    });
    let (sections, threads): (Vec<_>, Vec<_>) = said.unzip();
    let all = sections.iter().sum::<u64>();
    let number = u64::from_le_bytes(std::fs::read(&path).unwrap().try_into().unwrap());
    assert_eq!(number, all, "{contender}: each section was alone");
    let [fewest, most] = [sections.iter().min(), sections.iter().max()].map(|it| *it.unwrap() as f64);
    Outcome {
        per_second: all as f64 / time.as_secs_f64(),
        evenness: fewest / most.max(1.0),
        threads: threads.into_iter().max().unwrap() as f64,
    }
}

/// What one of the processes does. Prints its sections and its threads.
fn process(contender: &str, path: &Path, tasks: u64, time: Duration) {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    let end = Instant::now() + time;
    let sections = Arc::new(AtomicU64::new(0));
    let lock = FileMutex::open(path).unwrap();
    let tasks: Vec<_> = (0..tasks)
        .map(|_| {
            let (lock, sections) = (lock.clone(), Arc::clone(&sections));
            // Each has a description of its own, or the system would not let them wait for each other.
            let file = File::options().read(true).write(true).open(path).unwrap();
            let contender = contender.to_owned();
            runtime.spawn(async move {
                let (file, mut guarded) = (Arc::new(file), None);
                while Instant::now() < end {
                    match contender.as_str() {
                        "waitword-file" => {
                            let guard = lock.lock_async().await.unwrap();
                            add(guard.file());
                        }
                        // Its guard borrows from the lock, and stays in the thread.
                        "fd-lock" => {
                            let its_file = Arc::clone(&file);
                            let mut own = guarded
                                .take()
                                .unwrap_or_else(|| fd_lock::RwLock::new(its_file.try_clone().unwrap()));
                            let section = spawn_blocking(move || {
                                add(&own.write().unwrap());
                                own
                            });
                            guarded = Some(section.await.unwrap());
                        }
                        "fs4" => {
                            let waits = Arc::clone(&file);
                            spawn_blocking(move || fs4::FileExt::lock(&*waits).unwrap()).await.unwrap();
                            add(&file);
                            fs4::FileExt::unlock(&*file).unwrap();
                        }
                        _ => {
                            let waits = Arc::clone(&file);
                            spawn_blocking(move || waits.lock().unwrap()).await.unwrap();
                            add(&file);
                            file.unlock().unwrap();
                        }
                    }
                    sections.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    std::thread::sleep(time / 2);
    let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    runtime.block_on(async {
        for task in tasks {
            task.await.unwrap();
        }
    });
    println!("{} {threads}", sections.load(Ordering::Relaxed));
}

/// Adds one to the number in the file.
fn add(file: &File) {
    use std::os::unix::fs::FileExt;

    let mut number = [0; 8];
    file.read_exact_at(&mut number, 0).unwrap();
    file.write_all_at(&(u64::from_le_bytes(number) + 1).to_le_bytes(), 0).unwrap();
}
