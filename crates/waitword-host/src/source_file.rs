//! Reads source text from files, pipes and standard input, in pieces.
//!
//! Between two pieces the agent checks whether it has to stop, and whether there is memory for more. So neither an endless file nor one
//! beyond the agent's limit blocks it. Sources that may block their reader (a pipe, a terminal) are read by a thread of their own, and the
//! agent sleeps at its doorbell until there is more. Next: sources.rs, which decides what kind of text it is.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{TryRecvError, sync_channel};
use std::thread;

use waitword_agents::{Charge, MemoryBudget};
use waitword_quickjs::{Exception, Realm};

use crate::agent_host;
use crate::path_text::path_of;
use crate::source_text::SourceText;

/// The bytes that are read at a time.
const PIECE: usize = 64 << 10;

/// The most bytes that source text may have: about as many as a string has at most in Node.
const MOST: u64 = 512 << 20;

/// The cost of a byte of source text: there are two copies while the engine reads it, one of them in the form that the engine requires.
const COPIES: usize = 2;

/// Why a source could not be read.
pub(crate) enum Unreadable {
    /// A message for the user.
    Refused(String),
    /// A message for the user: there is not enough memory.
    OutOfMemory(String),
    /// The agent is being ended.
    Stopped,
}

impl Unreadable {
    /// The exception for a script.
    pub(crate) fn into_exception(self, realm: &Realm) -> Exception {
        match self {
            Self::Refused(message) | Self::OutOfMemory(message) => realm.error(&message),
            Self::Stopped => realm.uncatchable_error("the agent was terminated while it read a file"),
        }
    }
}

/// Reads a file, a pipe or a device.
///
/// # Blocking
/// Until its end, or until the agent is terminated.
pub(crate) fn read(realm: &Realm, path: &Path) -> Result<SourceText, Unreadable> {
    let path = &*path_of(path);
    let shown = path.display().to_string();
    let failed = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => format!("cannot find {shown}: check the name and the directory"),
        ErrorKind::IsADirectory => format!("{shown} is a directory: name a file in it"),
        _ => format!("cannot read {shown}: {error}"),
    };
    let mut text = Incoming::new(realm, &shown, &failed);
    let metadata = fs::metadata(path).map_err(|error| text.failed(error))?;
    // Checked here, because Windows reports that access to a directory is denied.
    if metadata.is_dir() {
        return Err(text.failed(ErrorKind::IsADirectory.into()));
    }
    if metadata.is_file() {
        text.expect(metadata.len())?;
        text.read_all(|| File::open(path))?;
    } else {
        let path = path.to_owned();
        text.read_aside(move || File::open(path))?;
    }
    text.finish()
}

/// Reads the standard input.
///
/// # Blocking
/// As [`read`].
pub(crate) fn read_stdin(realm: &Realm) -> Result<SourceText, Unreadable> {
    let failed = |error| format!("cannot read the standard input: {error}");
    let mut text = Incoming::new(realm, "the standard input", &failed);
    text.read_aside(|| Ok(io::stdin()))?;
    text.finish()
}

/// The text that has been read so far.
struct Incoming<'a> {
    realm: &'a Realm,
    shown: &'a str,
    /// Converts an error of the system into a message for the user.
    explain: &'a dyn Fn(io::Error) -> String,
    bytes: Vec<u8>,
    /// The number of bytes that are known to be UTF-8.
    checked: usize,
    budget: Option<&'a Arc<MemoryBudget>>,
    charge: Option<Charge>,
}

impl<'a> Incoming<'a> {
    fn new(realm: &'a Realm, shown: &'a str, explain: &'a dyn Fn(io::Error) -> String) -> Self {
        let budget = realm.memory_budget();
        Self { realm, shown, explain, bytes: Vec::new(), checked: 0, budget, charge: None }
    }

    fn failed(&self, error: io::Error) -> Unreadable {
        Unreadable::Refused((self.explain)(error))
    }

    /// Reserves space for the length that a file reports. The file may have more, or less.
    fn expect(&mut self, length: u64) -> Result<(), Unreadable> {
        match usize::try_from(length) {
            Ok(bytes) if length <= MOST => self.make_room(bytes),
            _ => Err(self.too_long()),
        }
    }

    fn read_all<R: Read>(&mut self, open: impl FnOnce() -> io::Result<R>) -> Result<(), Unreadable> {
        let mut from = open().map_err(|error| self.failed(error))?;
        while let Some(piece) = next_piece(&mut from) {
            self.go_on()?;
            self.add(&piece.map_err(|error| self.failed(error))?)?;
        }
        Ok(())
    }

    /// Reads a source that may block, even when it is opened, on a thread of its own. If nothing ever wakes that thread, it outlives the
    /// agent.
    fn read_aside<R: Read>(
        &mut self,
        open: impl FnOnce() -> io::Result<R> + Send + 'static,
    ) -> Result<(), Unreadable> {
        let Ok(host) = agent_host::of(self.realm) else { return Err(Unreadable::Stopped) };
        let bell = Arc::clone(&host.bell);
        let (sender, pieces) = sync_channel::<io::Result<Vec<u8>>>(1);
        let reader = move || {
            let send = |piece| {
                let sent = sender.send(piece).is_ok();
                bell.ring();
                sent
            };
            match open() {
                Err(error) => drop(send(Err(error))),
                Ok(mut from) => while next_piece(&mut from).is_some_and(&send) {},
            }
            // The receiver sees the end only after the sender is dropped.
            drop(sender);
            bell.ring();
        };
        let started = thread::Builder::new().name("waitword reader".into()).spawn(reader);
        started.map_err(|error| self.failed(error))?;
        loop {
            // Before checking, so that a ring during the check is not lost. For other events the agent checks before it sleeps the next
            // time.
            host.bell.clear();
            self.go_on()?;
            match pieces.try_recv() {
                Ok(piece) => self.add(&piece.map_err(|error| self.failed(error))?)?,
                Err(TryRecvError::Empty) => host.bell.sleep(None),
                Err(TryRecvError::Disconnected) => return Ok(()),
            }
        }
    }

    fn go_on(&self) -> Result<(), Unreadable> {
        if self.realm.is_terminated() { Err(Unreadable::Stopped) } else { Ok(()) }
    }

    fn add(&mut self, piece: &[u8]) -> Result<(), Unreadable> {
        let length = self.bytes.len() + piece.len();
        if length as u64 > MOST {
            return Err(self.too_long());
        }
        if length > self.bytes.capacity() {
            // Twice as much, because otherwise a long text would be moved again and again; or as much as there is memory for.
            let twice = (2 * length).min(MOST as usize);
            self.make_room(twice).or_else(|_| self.make_room(length))?;
        }
        self.bytes.extend_from_slice(piece);
        // Input that cannot be text, such as endless zeros from a device, is not read to its end.
        if self.bytes.first() == Some(&0) {
            return Err(self.refused("is not source text: it begins with a NUL byte"));
        }
        match str::from_utf8(&self.bytes[self.checked..]) {
            Ok(_) => self.checked = self.bytes.len(),
            Err(error) => {
                self.checked += error.valid_up_to();
                // Without an error length, the piece only ends in the middle of a character.
                if error.error_len().is_some() {
                    return Err(self.not_utf8());
                }
            }
        }
        Ok(())
    }

    /// Reserves space for `length` bytes in all, if the agent's limit allows it.
    fn make_room(&mut self, length: usize) -> Result<(), Unreadable> {
        let more = length.saturating_sub(self.bytes.capacity());
        let is_admitted = match (&mut self.charge, self.budget) {
            (_, None) => true,
            (Some(charge), _) => charge.grow(COPIES * more),
            (none, Some(budget)) => {
                *none = budget.charge(COPIES * more);
                none.is_some()
            }
        };
        let missing = length.saturating_sub(self.bytes.len());
        if is_admitted && self.bytes.try_reserve_exact(missing).is_ok() {
            return Ok(());
        }
        Err(Unreadable::OutOfMemory(format!("cannot read {}: out of memory", self.shown)))
    }

    fn finish(self) -> Result<SourceText, Unreadable> {
        if self.checked < self.bytes.len() {
            return Err(self.not_utf8());
        }
        // Cannot fail: all bytes were checked.
        let text = String::from_utf8(self.bytes).unwrap_or_default();
        Ok(SourceText::new(text, self.charge))
    }

    fn not_utf8(&self) -> Unreadable {
        self.refused(&format!("is not UTF-8 text (at byte {}): save it as UTF-8", self.checked))
    }

    fn too_long(&self) -> Unreadable {
        self.refused(&format!("is too long: source text may have at most {MOST} bytes"))
    }

    fn refused(&self, why: &str) -> Unreadable {
        Unreadable::Refused(format!("{} {why}", self.shown))
    }
}

/// Reads the next piece; `None` at the end.
fn next_piece(from: &mut impl Read) -> Option<io::Result<Vec<u8>>> {
    let mut piece = vec![0; PIECE];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return None,
            Ok(read) => {
                piece.truncate(read);
                return Some(Ok(piece));
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Some(Err(error)),
        }
    }
}
