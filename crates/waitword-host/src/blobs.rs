//! Blob URLs: source texts that all agents of a program know by name, until somebody revokes the name or the agent ends that made it.
//!
//! A text is kept outside of every engine, and counts on the budget of the agent that made its URL.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use waitword_agents::Charge;

use crate::agent_name::ThreadId;

/// The URLs of one program.
#[derive(Default)]
pub(crate) struct Blobs(Mutex<State>);

#[derive(Default)]
struct State {
    kept: BTreeMap<Key, Blob>,
    /// How many URLs each agent has made that is still there.
    made: BTreeMap<ThreadId, u64>,
}

/// The agent that made a URL, and which of its URLs it is, from 1.
type Key = (ThreadId, u64);

struct Blob {
    text: Arc<str>,
    _charge: Option<Charge>,
}

/// What a URL stands for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Text(Arc<str>),
    Revoked,
    /// No agent that is still there has made it.
    Unknown,
}

/// What a URL costs besides its text.
pub(crate) const OVERHEAD: usize = 128;
const SCHEME: &str = "blob:waitword/";

impl Blobs {
    pub(crate) fn keep(&self, owner: ThreadId, text: String, charge: Option<Charge>) -> String {
        let mut state = self.lock();
        let made = state.made.entry(owner).or_default();
        *made += 1;
        let number = *made;
        state.kept.insert((owner, number), Blob { text: text.into(), _charge: charge });
        format!("{SCHEME}{owner}-{number}")
    }

    pub(crate) fn find(&self, url: &str) -> Found {
        let Some((owner, number)) = key(url) else { return Found::Unknown };
        let state = self.lock();
        match state.kept.get(&(owner, number)) {
            Some(blob) => Found::Text(Arc::clone(&blob.text)),
            None if state.made.get(&owner).is_some_and(|&made| number <= made) => Found::Revoked,
            None => Found::Unknown,
        }
    }

    pub(crate) fn revoke(&self, url: &str) {
        let revoked = key(url).and_then(|key| self.lock().kept.remove(&key));
        drop(revoked);
    }

    /// An agent is gone, and with it what it has made.
    pub(crate) fn forget(&self, owner: ThreadId) {
        let mut state = self.lock();
        if state.made.remove(&owner).is_some() {
            state.kept.retain(|key, _| key.0 != owner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Of a URL as [`Blobs::keep`] writes it, whatever fragment it has.
fn key(url: &str) -> Option<Key> {
    let name = url.strip_prefix(SCHEME)?.split('#').next()?;
    let (owner, number) = name.split_once('-')?;
    let key = (owner.parse().ok()?, number.parse().ok()?);
    // Not with signs or leading zeros.
    (name == format!("{}-{}", key.0, key.1) && key.1 > 0).then_some(key)
}

#[cfg(test)]
mod tests {
    use waitword_agents::MemoryBudget;

    use super::*;

    #[test]
    fn a_url_is_known_until_it_is_revoked_or_its_agent_is_gone() {
        let (blobs, budget) = (Blobs::default(), MemoryBudget::new(1 << 20));
        let charge = || budget.charge(100);
        let urls =
            [(1, "a"), (1, "b"), (2, "c")].map(|(owner, text)| blobs.keep(owner, text.to_owned(), charge()));
        assert_eq!(blobs.find(&urls[1]), Found::Text("b".into()));
        assert_eq!(blobs.find(&format!("{}#part", urls[1])), Found::Text("b".into()));
        blobs.revoke(&urls[0]);
        assert_eq!(
            [&urls[0], "blob:waitword/1-3"].map(|url| blobs.find(url)),
            [Found::Revoked, Found::Unknown]
        );
        blobs.forget(1);
        assert_eq!([&urls[0], &urls[1]].map(|url| blobs.find(url)), [Found::Unknown, Found::Unknown]);
        assert_eq!(blobs.find(&urls[2]), Found::Text("c".into()));
        assert_eq!(budget.held(), 100, "what is gone is paid for no more");
        for url in [
            "",
            "blob:",
            "blob:waitword/",
            "blob:waitword/2",
            "blob:waitword/02-1",
            "blob:waitword/2-+1",
            "blob:null/2-1",
        ] {
            assert_eq!(blobs.find(url), Found::Unknown, "{url}");
        }
    }
}
