//! Addresses in a model. A checker runs a model again and again and needs it to be deterministic, but the allocator gives
//! out other addresses each time. So a word of a model is hashed by when it was first seen, each in a cache line of its own.

use std::cell::RefCell;

// All threads of a model are one thread of the system.
std::thread_local! {
    static SEEN: RefCell<Seen> = const { RefCell::new(Seen { tables: 0, words: Vec::new() }) };
}

struct Seen {
    tables: usize,
    words: Vec<usize>,
}

pub(crate) fn begin() {
    SEEN.with_borrow_mut(|seen| seen.tables += 1);
}

pub(crate) fn end() {
    SEEN.with_borrow_mut(|seen| {
        seen.tables -= 1;
        if seen.tables == 0 {
            seen.words.clear();
        }
    });
}

pub(super) fn line_of(word: usize) -> usize {
    SEEN.with_borrow_mut(|seen| {
        let known = seen.words.iter().position(|&known| known == word);
        let index = known.unwrap_or_else(|| {
            seen.words.push(word);
            seen.words.len() - 1
        });
        index + 1
    })
}
