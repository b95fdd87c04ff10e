//! One workload on the locks that Rust programs have in a browser: workers that block, and a page that takes the lock ten times a frame.
//! One worker holds it for 100 ms, once a second. `page.html` runs it, and measures its frames.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use js_sys::Promise;
use waitword::time::Instant;
use waitword_web::spawn;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

const PER_FRAME: u32 = 10;
const HOLDS_FOR: Duration = Duration::from_millis(100);
const HOLDS_EVERY: Duration = Duration::from_secs(1);

#[wasm_bindgen(start)]
fn start() {
    waitword_web::start();
}

#[wasm_bindgen]
extern "C" {
    /// Of `page.html`: settles at the next frame.
    #[wasm_bindgen(js_name = nextFrame)]
    fn next_frame() -> Promise;
}

/// A lock around a count.
trait Lock: Send + Sync + 'static {
    /// In a worker.
    fn block(&self, section: impl FnOnce(&mut u32));
    /// On the page, in the way that the crate has for it.
    async fn on_page(&self, section: impl FnOnce(&mut u32));
    /// On the page; `None`: the crate has no such wait.
    async fn on_page_for(&self, timeout: Duration) -> Option<()>;
}

impl Lock for waitword::Mutex<u32> {
    fn block(&self, section: impl FnOnce(&mut u32)) {
        section(&mut self.lock());
    }

    async fn on_page(&self, section: impl FnOnce(&mut u32)) {
        section(&mut *self.lock_async().await);
    }

    async fn on_page_for(&self, timeout: Duration) -> Option<()> {
        drop(self.lock_async().timeout(timeout).await);
        Some(())
    }
}

impl Lock for wasm_safe_mutex::Mutex<u32> {
    fn block(&self, section: impl FnOnce(&mut u32)) {
        section(&mut self.lock_sync());
    }

    async fn on_page(&self, section: impl FnOnce(&mut u32)) {
        section(&mut *self.lock_async().await);
    }

    async fn on_page_for(&self, timeout: Duration) -> Option<()> {
        drop(self.lock_async_timeout(web_time::Instant::now() + timeout).await);
        Some(())
    }
}

/// It has no future: `lock` tries again and again on a page.
impl Lock for wasm_sync::Mutex<u32> {
    fn block(&self, section: impl FnOnce(&mut u32)) {
        section(&mut self.lock().expect("nobody panics"));
    }

    async fn on_page(&self, section: impl FnOnce(&mut u32)) {
        self.block(section);
    }

    async fn on_page_for(&self, _: Duration) -> Option<()> {
        None
    }
}

/// Contends for so long. Resolves to the acquisitions: the page's, then each worker's.
async fn contend(lock: Arc<impl Lock>, workers: u32, span: Duration) -> Vec<u32> {
    let is_over = Arc::new(AtomicBool::new(false));
    let ready = Arc::new(AtomicU32::new(0));
    let workers: Vec<_> = (0..workers)
        .map(|me| {
            let (lock, is_over, ready) = (Arc::clone(&lock), Arc::clone(&is_over), Arc::clone(&ready));
            spawn(move || {
                ready.fetch_add(1, Ordering::SeqCst);
                let (mut count, mut held_at) = (0, Instant::now());
                while !is_over.load(Ordering::Relaxed) {
                    lock.block(|total| {
                        *total += 1;
                        if me == 0 && held_at.elapsed() > HOLDS_EVERY {
                            std::thread::sleep(HOLDS_FOR);
                            held_at = Instant::now();
                        }
                    });
                    count += 1;
                }
                count
            })
        })
        .collect();
    while ready.load(Ordering::SeqCst) < workers.len() as u32 {
        frame().await;
    }
    let (start, mut count) = (Instant::now(), 0);
    while start.elapsed() < span {
        for _ in 0..PER_FRAME {
            lock.on_page(|total| *total += 1).await;
            count += 1;
        }
        frame().await;
    }
    is_over.store(true, Ordering::Relaxed);
    let mut counts = vec![count];
    for worker in workers {
        counts.push(worker.join_async().await.expect("a worker that returns"));
    }
    let mut total = 0;
    lock.on_page(|counted| total = *counted).await;
    assert_eq!(total, counts.iter().sum(), "counts were lost");
    counts
}

async fn frame() {
    let _ = JsFuture::from(next_frame()).await;
}

/// Gives so many waits up, all at once, while a worker holds the lock. Resolves to whether there are such waits.
async fn give_up(lock: Arc<impl Lock>, waits: u32) -> bool {
    let (theirs, is_held) = (Arc::clone(&lock), Arc::new(AtomicBool::new(false)));
    let held = Arc::clone(&is_held);
    let holder = spawn(move || {
        theirs.block(|_| {
            held.store(true, Ordering::SeqCst);
            std::thread::sleep(Duration::from_secs(2));
        });
    });
    while !is_held.load(Ordering::SeqCst) {
        frame().await;
    }
    let left = Arc::new(AtomicU32::new(waits));
    let exist = Arc::new(AtomicBool::new(true));
    for _ in 0..waits {
        let (lock, left, exist) = (Arc::clone(&lock), Arc::clone(&left), Arc::clone(&exist));
        waitword_web::spawn_local(async move {
            if lock.on_page_for(Duration::from_millis(500)).await.is_none() {
                exist.store(false, Ordering::SeqCst);
            }
            left.fetch_sub(1, Ordering::SeqCst);
        });
    }
    while left.load(Ordering::SeqCst) > 0 {
        frame().await;
    }
    let _ = holder.join_async().await;
    exist.load(Ordering::SeqCst)
}

/// Runs `$then` with a new lock of the crate that is called `$name`.
macro_rules! with_lock {
    ($name:expr, |$lock:ident| $then:expr) => {
        match $name {
            "waitword" => {
                let $lock = Arc::new(waitword::Mutex::new(0));
                $then
            }
            "wasm_safe_mutex" => {
                let $lock = Arc::new(wasm_safe_mutex::Mutex::new(0));
                $then
            }
            "wasm_sync" => {
                let $lock = Arc::new(wasm_sync::Mutex::new(0));
                $then
            }
            name => panic!("no lock is called {name}"),
        }
    };
}

#[wasm_bindgen(js_name = contend)]
pub fn run_contend(name: String, workers: u32, milliseconds: u32) -> Promise {
    let span = Duration::from_millis(milliseconds.into());
    waitword_web::promise(async move {
        let counts = with_lock!(name.as_str(), |lock| contend(lock, workers, span).await);
        Ok(js_sys::Uint32Array::from(counts.as_slice()).into())
    })
}

#[wasm_bindgen(js_name = giveUp)]
pub fn run_give_up(name: String, waits: u32) -> Promise {
    waitword_web::promise(
        async move { Ok(with_lock!(name.as_str(), |lock| give_up(lock, waits).await).into()) },
    )
}
