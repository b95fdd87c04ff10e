//! A thread decodes a film, and tasks show it: a bounded queue out of one `Mutex` and two `Condvar`s.
//!
//! ```text
//! cargo run -p waitword --example decoder
//! ```
//!
//! The decoder is a thread that computes all the time, and blocks when the queue is full. The viewers are tasks of one other thread,
//! and wait without blocking it when the queue is empty. Shown are the three things that such a queue is asked for:
//!
//! - the end of the stream, after which the viewers get what is left, and then nothing;
//! - cancellation: one viewer gives up a wait as soon as it has something else to do, and no frame is lost by it;
//! - the other end: when all views are gone, the decoder learns of it and stops.

use std::collections::VecDeque;
use std::process::ExitCode;
use std::thread;

use smol::LocalExecutor;
use smol::future::{or, yield_now};
use waitword::{Condvar, Mutex};

const FRAMES: usize = 2_000;
const CAPACITY: usize = 8;
const WIDTH: usize = 64;
const HEIGHT: usize = 48;

fn main() -> ExitCode {
    let whole = to_its_end();
    println!();
    let half = nobody_looks_any_more();
    if whole && half { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Three viewers share the frames of one film.
fn to_its_end() -> bool {
    let queue = Queue::new(CAPACITY);
    let (decoded, seen) = thread::scope(|scope| {
        let decoder = scope.spawn(|| decode(&queue));
        let tasks = LocalExecutor::new();
        let viewers = [
            tasks.spawn(view("a viewer", &queue)),
            tasks.spawn(view("another viewer", &queue)),
            tasks.spawn(view_and_do_something_else(&queue)),
        ];
        let seen = smol::block_on(tasks.run(async {
            let mut seen = Vec::new();
            for viewer in viewers {
                seen.push(viewer.await);
            }
            seen
        }));
        (decoder.join().expect("a decoder that does not panic"), seen)
    });

    println!("A film of {FRAMES} frames, a queue of {CAPACITY}\n");
    for Seen { who, frames, given_up } in &seen {
        println!("  {who:<28}saw {:>5} frames, gave up {given_up} waits", frames.len());
    }
    let mut frames: Vec<usize> = seen.iter().flat_map(|seen| &seen.frames).copied().collect();
    let in_order = seen.iter().all(|seen| seen.frames.is_sorted());
    frames.sort_unstable();
    let right = decoded == FRAMES && in_order && frames.into_iter().eq(0..FRAMES);
    println!("\n  each frame was seen {}", if right { "once" } else { "NEVER, OR TWICE, OR OUT OF TURN" });
    right
}

/// A viewer leaves in the middle; the decoder does not decode the rest for nobody.
fn nobody_looks_any_more() -> bool {
    const ENOUGH: usize = 100;

    let queue = Queue::new(CAPACITY);
    let decoded = thread::scope(|scope| {
        let decoder = scope.spawn(|| decode(&queue));
        smol::block_on(async {
            for _ in 0..ENOUGH {
                queue.receive().await.expect("the film is longer");
            }
        });
        queue.leave();
        decoder.join().expect("a decoder that does not panic")
    });
    let right = (ENOUGH..=ENOUGH + CAPACITY).contains(&decoded);
    println!("The viewer left after {ENOUGH} frames, the decoder stopped after {decoded}");
    right
}

/// The thread. Returns how many frames it has delivered.
fn decode(queue: &Queue<Frame>) -> usize {
    for number in 0..FRAMES {
        let pixels = (0..WIDTH * HEIGHT).map(|pixel| (number + pixel) as u8).collect();
        if queue.send(Frame { number, pixels }).is_err() {
            return number;
        }
    }
    queue.end();
    FRAMES
}

async fn view(who: &'static str, queue: &Queue<Frame>) -> Seen {
    let mut seen = Seen { who, frames: Vec::new(), given_up: 0 };
    while let Some(frame) = queue.receive().await {
        seen.show(&frame);
    }
    seen
}

/// Whenever it would have to wait it gives up the wait, for something else.
async fn view_and_do_something_else(queue: &Queue<Frame>) -> Seen {
    let mut seen = Seen { who: "one with other things to do", frames: Vec::new(), given_up: 0 };
    loop {
        let something_else = async {
            yield_now().await;
            None
        };
        match or(async { Some(queue.receive().await) }, something_else).await {
            Some(Some(frame)) => seen.show(&frame),
            Some(None) => return seen,
            None => seen.given_up += 1,
        }
    }
}

/// What one viewer has seen.
struct Seen {
    who: &'static str,
    frames: Vec<usize>,
    given_up: usize,
}

impl Seen {
    /// A frame that is not whole does not count.
    fn show(&mut self, frame: &Frame) {
        if frame.pixels.len() == WIDTH * HEIGHT {
            self.frames.push(frame.number);
        }
    }
}

struct Frame {
    number: usize,
    pixels: Vec<u8>,
}

/// A bounded queue from threads to tasks.
struct Queue<T> {
    capacity: usize,
    line: Mutex<Line<T>>,
    not_empty: Condvar,
    not_full: Condvar,
}

struct Line<T> {
    items: VecDeque<T>,
    /// Nothing will come any more.
    ended: bool,
    /// Nobody will take anything any more.
    left: bool,
}

impl<T> Queue<T> {
    fn new(capacity: usize) -> Self {
        let line = Line { items: VecDeque::with_capacity(capacity), ended: false, left: false };
        Self { capacity, line: Mutex::new(line), not_empty: Condvar::new(), not_full: Condvar::new() }
    }

    /// Appends an item, blocking this thread while the queue is full. The error is the item, if nobody will take it.
    fn send(&self, item: T) -> Result<(), T> {
        let mut line = self.line.lock();
        self.not_full.wait_while(&mut line, |line| line.items.len() == self.capacity && !line.left);
        if line.left {
            return Err(item);
        }
        line.items.push_back(item);
        self.not_empty.notify_one();
        Ok(())
    }

    /// The next item; `None` at the end of the stream.
    ///
    /// Dropped before it is ready, it has taken nothing: between the wait and the item there is no `await`. Had it been
    /// notified already, the notify is forwarded to the next waiter.
    async fn receive(&self) -> Option<T> {
        let line = self.line.lock_async().await;
        let mut line =
            self.not_empty.wait_while_async(line, |line| line.items.is_empty() && !line.ended).await;
        let item = line.items.pop_front();
        self.not_full.notify_one();
        item
    }

    /// Nothing comes any more: the receivers get what is left, and then nothing.
    fn end(&self) {
        self.line.lock().ended = true;
        self.not_empty.notify_all();
    }

    /// Nothing is taken any more: the senders get an error.
    fn leave(&self) {
        self.line.lock().left = true;
        self.not_full.notify_all();
    }
}
