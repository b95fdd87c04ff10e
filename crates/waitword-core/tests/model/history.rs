//! A history: what is done to the queue, one step after the other. Read from bytes, four to a step, so that a property
//! test and a fuzzer make the same histories.

use std::fmt;
use waitword_core::time::{Duration, Instant};

/// How many words there are. More than a shard has buckets at first, so that it grows and shrinks.
pub(crate) const WORDS: usize = 40;
/// How many agents there are.
pub(crate) const AGENTS: usize = 2;

/// Longer than any test.
pub(crate) const HOUR: Duration = Duration::from_secs(3600);

#[derive(Clone, PartialEq)]
pub(crate) struct History {
    /// The number of shards; `None` for the table of the process.
    pub(crate) shards: Option<usize>,
    pub(crate) steps: Vec<Step>,
}

/// `wait` names one of those that are there, modulo their number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Writes a word and notifies no waiter.
    Store { word: usize, value: i32 },
    /// One waiter more. A future is polled once, unless it is `lazy`.
    Wait { word: usize, expected: i32, kind: Kind, lazy: bool },
    /// More waiters on a word than a notify settles before it rings for the first time.
    Crowd { word: usize },
    /// A waiter on every word.
    Spread,
    /// Polls a future, with the same waker as before or another.
    Poll { wait: usize, on_wake: OnWake },
    /// Notifies, for the agent `by` if it is one.
    Notify { word: usize, count: usize, by: Option<usize> },
    /// Notifies the one that came last.
    NotifyLast { word: usize },
    /// Lets a deadline pass.
    Pass { wait: usize },
    /// Cancels a future, or interrupts a thread.
    Cancel { wait: usize },
    /// Drops a future or an agent's wait.
    Drop { wait: usize },
    /// Never polls a future again.
    Forget { wait: usize },
    /// Has an agent wait again with what it popped.
    Again { wait: usize },
    /// Takes what has arrived at an agent; by a notify of its own if `here`.
    Pop { agent: usize, here: bool },
    /// A wait of this thread that does not block: its time is up before it begins.
    Glance { word: usize, expected: i32 },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Task,
    Timed(Time),
    Agent(usize),
    Thread(Form),
}

/// When a deadline is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Time {
    Past,
    /// It may pass between any two steps.
    Soon,
    /// In an hour.
    Far,
    /// Farther than the clock goes.
    Never,
}

/// By which function a thread blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form {
    Wait,
    WaitFor,
    WaitForEver,
    Interruptible,
}

/// What a waker does when it is woken. All make a note of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum OnWake {
    Notes(u8),
    /// Does something to another future, which may be detached at that moment: counted, and not completed yet.
    Polls(usize),
    Cancels(usize),
    Drops(usize),
    /// Waits on the same word.
    Waits,
    Panics,
}

impl History {
    pub(crate) fn decode(bytes: &[u8]) -> Self {
        let Some((&first, rest)) = bytes.split_first() else {
            return Self { shards: None, steps: Vec::new() };
        };
        let shards = [Some(1), Some(2), Some(4), None][usize::from(first % 4)];
        let steps =
            rest.chunks_exact(4).map(|step| Step::decode([step[0], step[1], step[2], step[3]])).collect();
        Self { shards, steps }
    }
}

/// One line a step, for the reader of a failing history.
impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "a history with {:?} shards:", self.shards)?;
        self.steps.iter().try_for_each(|step| writeln!(f, "  {step:?}"))
    }
}

impl Step {
    fn decode([what, whose, how, more]: [u8; 4]) -> Self {
        // Most of the time one of three words, so that they meet.
        let word = usize::from(if whose < 192 { whose % 3 } else { whose % WORDS as u8 });
        let wait = usize::from(whose);
        let expected = i32::from(more >= 224);
        match what % 32 {
            0..=8 => Self::Wait { word, expected, kind: Kind::decode(how), lazy: more % 16 == 1 },
            15 => Self::NotifyLast { word },
            9..=14 => {
                let count = [1, 0, 1, 2, 3, 31, 33, usize::MAX][usize::from(how % 8)];
                let by = [None, None, Some(0), Some(1)][usize::from(more % 4)];
                Self::Notify { word, count, by }
            }
            16..=19 => Self::Poll { wait, on_wake: OnWake::decode(how, more) },
            20 => Self::Crowd { word },
            21 => Self::Spread,
            22 => Self::Store { word, value: i32::from(how >= 192) },
            23 | 24 => Self::Cancel { wait },
            25 | 26 => Self::Drop { wait },
            27 => Self::Pass { wait },
            28 => Self::Forget { wait },
            29 => Self::Again { wait },
            30 => Self::Pop { agent: usize::from(how) % AGENTS, here: more % 2 == 1 },
            _ => Self::Glance { word, expected },
        }
    }
}

impl Kind {
    fn decode(how: u8) -> Self {
        match how % 16 {
            0..=5 => Self::Task,
            6..=10 => Self::Agent(usize::from(how / 16) % AGENTS),
            11 => Self::Timed(Time::Past),
            12 => Self::Timed(Time::Soon),
            13 => Self::Timed(Time::Far),
            14 => Self::Timed(Time::Never),
            _ => {
                let forms = [Form::Wait, Form::WaitFor, Form::WaitForEver, Form::Interruptible];
                Self::Thread(forms[usize::from(how / 16) % 4])
            }
        }
    }
}

impl Time {
    pub(crate) fn deadline(self) -> Option<Instant> {
        match self {
            Self::Past => Some(Instant::now()),
            Self::Soon => Some(Instant::now() + Duration::from_micros(50)),
            Self::Far => Some(Instant::now() + HOUR),
            Self::Never => None,
        }
    }
}

impl OnWake {
    fn decode(how: u8, more: u8) -> Self {
        let other = usize::from(more);
        match how % 8 {
            0..=2 => Self::Notes(more % 2),
            3 => Self::Polls(other),
            4 => Self::Cancels(other),
            5 => Self::Drops(other),
            // Not where a panic is the end.
            6 if cfg!(panic = "unwind") => Self::Panics,
            _ => Self::Waits,
        }
    }
}
