//! The heap of an engine whose memory is limited: the system's, counted on the budget of the agent.
//!
//! What a script asks for beyond its budget is refused, and the engine makes an InternalError of that: for which it needs
//! memory. So a refusal opens the reserve of the budget for a while, to small requests only. A script that goes on until
//! the reserve is gone as well is to be ended ([`Heap::is_exhausted`]); until somebody does so, small requests are granted
//! within as much again, for the engine throws `null` where it cannot even make the error.
//!
//! What the host needs for itself (realms, its own JavaScript) is not counted: scripts cannot make less of it. But it is on the budget of
//! the whole program, if there is one, for scripts can make more agents; that is never refused here, but before an agent is made.
//!
//! The engine's parser does not bear being refused: it leaks what it has made, or finds its code without an end, and an assertion ends
//! the process. So while it is at work, refusals are put off: it gets what it asks for beyond the limit as well, and what it has made
//! is thrown away afterwards. That goes so far and no further ([`PARSER_OVERDRAFT`]), and does not reach a script's own `eval`.
//!
//! An engine without a limit uses the functions that it brings along, and nothing of this.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, realloc as grow};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use rquickjs_sys as qjs;
use waitword_agents::MemoryBudget;

/// The largest request that the reserve is for: the engine's small objects come in blocks of a page, with our header.
const SMALL: usize = (4 << 10) + OFFSET;
/// How many small requests a refusal opens the reserve to: an error, its message, its stack.
const GRANTS: u32 = 8;

/// How far beyond the limit a script may get between the last of the reserve and its end.
const OVERDRAFT: usize = 256 << 10;

/// How far beyond the limit the parser may get: what some ten thousand lines take.
const PARSER_OVERDRAFT: usize = 4 << 20;

/// The counter and the mood of one engine's heap.
pub(super) struct Heap {
    pub(super) budget: Arc<MemoryBudget>,
    /// The host is at work: nothing is refused, nothing counted.
    is_hosts: Cell<bool>,
    /// How many small requests may still use the reserve.
    grants: Cell<u32>,
    is_exhausted: Cell<bool>,
    /// The engine's parser is at work.
    is_parsing: Cell<bool>,
    /// A refusal was put off.
    is_put_off: Cell<bool>,
    /// Something has been refused.
    has_refused: Cell<bool>,
}

impl Heap {
    pub(super) fn new(budget: Arc<MemoryBudget>) -> Box<Self> {
        Box::new(Self {
            budget,
            is_hosts: Cell::new(false),
            grants: Cell::new(0),
            is_exhausted: Cell::new(false),
            is_parsing: Cell::new(false),
            is_put_off: Cell::new(false),
            has_refused: Cell::new(false),
        })
    }

    /// Whether a script has used up even the reserve.
    pub(super) fn is_exhausted(&self) -> bool {
        self.is_exhausted.get() && !self.is_hosts.get()
    }

    /// Whether the engine has ever been refused memory, or would have been.
    pub(super) fn has_refused(&self) -> bool {
        self.has_refused.get()
    }

    /// Whether the work that begins is the host's, until the result is dropped: also by a panic.
    pub(super) fn work_as(&self, is_hosts: bool) -> Work<'_> {
        Work { heap: self, before: self.is_hosts.replace(is_hosts) }
    }

    /// Has the engine parse something; whether it has been given what it may not have, and its result has to be thrown away. Then
    /// the reserve is open for the error. What is parsed can ask for modules that are parsed in turn.
    pub(super) fn parse<T>(&self, work: impl FnOnce() -> T) -> (T, bool) {
        let was_parsing = self.is_parsing.replace(true);
        let result = work();
        self.is_parsing.set(was_parsing);
        let is_put_off = self.is_put_off.get();
        if is_put_off && !was_parsing {
            self.is_put_off.set(false);
            self.grants.set(GRANTS);
        }
        (result, is_put_off)
    }

    /// Takes bytes from the budget for a script, if it may have them.
    fn admit(&self, bytes: usize) -> bool {
        if self.budget.take(bytes) {
            return true;
        }
        self.has_refused.set(true);
        if self.is_parsing.get() && self.budget.overdraft() < PARSER_OVERDRAFT {
            self.is_put_off.set(true);
            self.budget.take_anyway(bytes);
            return true;
        }
        let grants = self.grants.get();
        if bytes > SMALL || grants == 0 {
            self.grants.set(GRANTS);
            return false;
        }
        self.grants.set(grants - 1);
        if self.budget.take_reserved(bytes) {
            return true;
        }
        self.is_exhausted.set(true);
        let is_near = self.budget.overdraft() < OVERDRAFT;
        if is_near {
            self.grants.set(GRANTS);
            self.budget.take_anyway(bytes);
        }
        is_near
    }

    /// Gives back bytes of an allocation of which the agent's budget counts `counted`.
    fn give_back(&self, bytes: usize, counted: usize) {
        match counted {
            0 => self.budget.give_back_to_whole(bytes),
            _ => self.budget.give_back(bytes),
        }
    }

    /// # Safety
    /// As the functions of the allocator want it: `allocate` gives what can be freed with the layout that it gets.
    unsafe fn allocate(&self, bytes: usize, allocate: unsafe fn(Layout) -> *mut u8) -> *mut c_void {
        let Some(layout) = layout(bytes) else { return std::ptr::null_mut() };
        let counted = if self.is_hosts.get() { 0 } else { layout.size() };
        match counted {
            0 => self.budget.take_of_whole(layout.size()),
            _ if self.admit(counted) => {}
            _ => return std::ptr::null_mut(),
        }
        // SAFETY: the layout is not empty, it has a header.
        let Some(start) = NonNull::new(unsafe { allocate(layout) }) else {
            self.give_back(layout.size(), counted);
            return std::ptr::null_mut();
        };
        // SAFETY: the allocation begins with room for a header.
        unsafe {
            start.cast::<Header>().write(Header { bytes, counted });
            start.add(OFFSET).as_ptr().cast()
        }
    }
}

/// Some work of the host's, or of a script's.
pub(super) struct Work<'a> {
    heap: &'a Heap,
    before: bool,
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        self.heap.is_hosts.set(self.before);
    }
}

/// What precedes the bytes that the engine gets.
#[repr(align(16))]
struct Header {
    /// What was asked for.
    bytes: usize,
    /// What the agent's budget counts: all of the allocation, or nothing for what is the host's.
    counted: usize,
}

const OFFSET: usize = size_of::<Header>();

/// How much more `new` is than `old`, and how much less.
fn difference(new: usize, old: usize) -> (usize, usize) {
    (new.saturating_sub(old), old.saturating_sub(new))
}

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(OFFSET)?, align_of::<Header>()).ok()
}

/// The functions below are called by an engine with the address of its [`Heap`] (invariant 10 of the folder), and never
/// panic.
pub(super) const FUNCTIONS: qjs::JSMallocFunctions = qjs::JSMallocFunctions {
    js_calloc: Some(calloc),
    js_malloc: Some(malloc),
    js_free: Some(free),
    js_realloc: Some(realloc),
    js_malloc_usable_size: Some(usable_size),
};

unsafe extern "C" fn malloc(heap: *mut c_void, bytes: qjs::size_t) -> *mut c_void {
    // SAFETY: (9).
    unsafe { (*heap.cast::<Heap>()).allocate(bytes as usize, alloc) }
}

unsafe extern "C" fn calloc(heap: *mut c_void, count: qjs::size_t, bytes: qjs::size_t) -> *mut c_void {
    let Some(bytes) = (count as usize).checked_mul(bytes as usize) else { return std::ptr::null_mut() };
    // SAFETY: (9).
    unsafe { (*heap.cast::<Heap>()).allocate(bytes, alloc_zeroed) }
}

unsafe extern "C" fn free(heap: *mut c_void, data: *mut c_void) {
    let Some(data) = NonNull::new(data.cast::<u8>()) else { return };
    // SAFETY: (9): `data` came from `allocate` or `realloc`, which put a header before it.
    unsafe {
        let start = data.sub(OFFSET);
        let Header { bytes, counted } = start.cast::<Header>().read();
        let layout = layout(bytes).unwrap_unchecked();
        dealloc(start.as_ptr(), layout);
        (*heap.cast::<Heap>()).give_back(layout.size(), counted);
    }
}

unsafe extern "C" fn realloc(heap: *mut c_void, data: *mut c_void, bytes: qjs::size_t) -> *mut c_void {
    let Some(data) = NonNull::new(data.cast::<u8>()) else {
        // SAFETY: as this function.
        return unsafe { malloc(heap, bytes) };
    };
    let bytes = bytes as usize;
    let Some(new) = layout(bytes) else { return std::ptr::null_mut() };
    // SAFETY: (9).
    let heap = unsafe { &*heap.cast::<Heap>() };
    // SAFETY: (9): `data` came from `allocate` or from here, with a header before it; the new header says what the
    // allocation is now.
    unsafe {
        let start = data.sub(OFFSET);
        let old = start.cast::<Header>().read();
        let old_layout = layout(old.bytes).unwrap_unchecked();
        let counted = if heap.is_hosts.get() && old.counted == 0 { 0 } else { new.size() };
        // How much more is counted now, and how much less: of what stays the host's, of what was and becomes a script's, and
        // of what is a script's already. Never both sizes at a time, which others would feel who share the whole.
        let (more, less) = match (counted, old.counted) {
            (0, _) => difference(new.size(), old_layout.size()),
            (_, 0) => (counted, old_layout.size()),
            (_, before) => difference(counted, before),
        };
        match heap.is_hosts.get() {
            _ if counted == 0 => heap.budget.take_of_whole(more),
            true => heap.budget.take_anyway(more),
            false if more == 0 || heap.admit(more) => {}
            false => return std::ptr::null_mut(),
        }
        let Some(moved) = NonNull::new(grow(start.as_ptr(), old_layout, new.size())) else {
            heap.give_back(more, counted);
            return std::ptr::null_mut();
        };
        heap.give_back(less, old.counted);
        moved.cast::<Header>().write(Header { bytes, counted });
        moved.add(OFFSET).as_ptr().cast()
    }
}

/// The engine also asks of memory that it has just been given; null it does not ask about.
unsafe extern "C" fn usable_size(data: *const c_void) -> qjs::size_t {
    if data.is_null() {
        return 0;
    }
    // SAFETY: (9): a header precedes what the engine was given.
    unsafe { (*data.cast::<u8>().sub(OFFSET).cast::<Header>()).bytes as qjs::size_t }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_the_hosts_that_panics_is_over() {
        let heap = Heap::new(MemoryBudget::new(1 << 20));
        let work = || {
            let _until_done = heap.work_as(true);
            panic!("on purpose");
        };
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err());
        assert!(!heap.is_hosts.get(), "what scripts do next is counted");
    }

    #[test]
    fn the_whole_program_counts_what_is_the_hosts_as_well() {
        let whole = MemoryBudget::new(1 << 20);
        let heap = Heap::new(MemoryBudget::part_of(&whole, usize::MAX));
        let opaque: *mut c_void = std::ptr::from_ref(&*heap).cast_mut().cast();
        let size = |bytes: usize| bytes + OFFSET;
        // SAFETY: (9): the heap outlives its allocations, each of which is used as one of them.
        unsafe {
            let work = heap.work_as(true);
            let hosts = realloc(opaque, malloc(opaque, 100), 1000);
            assert_eq!((heap.budget.held(), whole.held()), (0, size(1000)));
            drop(work);
            let scripts = malloc(opaque, 50);
            assert_eq!((heap.budget.held(), whole.held()), (size(50), size(50) + size(1000)));
            // What a script makes larger is the script's.
            let hosts = realloc(opaque, hosts, 2000);
            assert_eq!((heap.budget.held(), whole.held()), (size(50) + size(2000), size(50) + size(2000)));
            assert!(realloc(opaque, scripts, 1 << 20).is_null());
            let scripts = realloc(opaque, scripts, 10);
            assert_eq!(heap.budget.held(), size(10) + size(2000));
            free(opaque, hosts);
            free(opaque, scripts);
        }
        assert_eq!((heap.budget.held(), whole.held()), (0, 0));
    }
}
