//! Shared memory, and the wait table that belongs to it: the standard's Shared Data Block.
//!
//! One allocation: a header, then the bytes. The address of the first byte is the block's identity; it never moves,
//! and engines carry it through their C interfaces (`into_raw`, `from_raw`).
//!
//! # Invariants
//! - **B1** `data` points `OFFSET` bytes behind the start of an allocation of `layout(max_len)` that begins with an
//!   initialised `Header`, for as long as the count is not 0.
//! - **B2** Every `SharedBlock`, and every raw pointer that [`SharedBlock::into_raw`] gave out, owns one count.
//! - **B3** The bytes are zeroed at allocation. Rust touches them only through atomics; scripts may race with plain
//!   accesses of their own, as their memory model allows. So may accesses of 32 and of 64 bits to the same bytes:
//!   Rust's memory model, that of C++, has no word for such races, and we rely, as engines do, on what the processors
//!   that Rust compiles for make of them. Rust code that shares no bytes between words of two sizes relies on nothing.
//! - **B4** What the list of blocks (`block_list.rs`) has the address of is an allocation as in B1: the last owner takes the block out,
//!   under the list's lock, before it frees it. Under that lock a count that is not 0 can be raised.
//!
//! The waiters on a block's words queue in its own table. So no new block that is given the address of an old one can
//! meet the old one's waiters, and what a block costs goes with it.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use waitword_core::{Table, Word};

use crate::block_error::{BlockError, GrowError};
#[cfg(feature = "observe")]
use crate::block_list::{self, Observed};
use crate::budget::{Charge, MemoryBudget};
use crate::growth;

/// A block has a shard for so many bytes of it: a large one may have a crowd on its words, and a shard that grows at once has
/// to be small.
const BYTES_PER_SHARD: usize = 16 << 10;
/// Threads that use the words of one block contend for its shards; blocks may be many, so that a small one has few.
const FEWEST_SHARDS: usize = 8;
const MOST_SHARDS: usize = 256;
/// What a shard takes while few words of it are waited on (see [`Table::with_shards`]).
const BYTES_OF_A_SHARD: usize = 300;

/// Where the bytes begin. Aligned for the widest access that an engine makes, which is 8 bytes.
const OFFSET: usize = size_of::<Header>();

/// Aligned no further than any allocation of the system is: for more the standard library asks it for bytes that are not zeroed, and
/// writes, and so touches, all of them.
#[cfg_attr(target_pointer_width = "64", repr(align(16)))]
#[cfg_attr(not(target_pointer_width = "64"), repr(align(8)))]
struct Header {
    count: AtomicUsize,
    len: AtomicUsize,
    max_len: usize,
    growable: bool,
    /// Made when somebody first waits or notifies.
    queues: OnceLock<Queues>,
    /// What the block costs its maker's budget, until it is freed.
    charge: Option<Charge>,
}

struct Queues {
    table: Table,
    /// What the table costs the budget of the block's maker.
    _charge: Option<Charge>,
    /// Its place in the list of all blocks, and what its words have been through.
    #[cfg(feature = "observe")]
    observed: Observed,
}

/// A block of shared memory, counted: clones are the same block, and the last one frees it.
///
/// Its length is in bytes. A growable block is reserved, and reads as zeros, up to its maximum when it is made.
///
/// The bytes come from the global allocator's `alloc_zeroed`. That of the system gives a large block (from 128 KiB to 32 MiB on, as the
/// system has it) as fresh pages, which take memory only once they are touched; so a block of a gibibyte is made in microseconds. Where the
/// allocator writes the zeros itself (most of those that replace the system's do not), a block takes all of its memory at once.
///
/// ```
/// use std::sync::atomic::Ordering;
/// use waitword_agents::SharedBlock;
///
/// let block = SharedBlock::new(8)?;
/// let word = block.i32(4)?;
/// word.store(-1, Ordering::SeqCst);
/// assert_eq!(block.i64(0)?.load(Ordering::SeqCst).to_ne_bytes()[4..], [0xff; 4]);
/// assert!(block.i32(6).is_err() && block.i32(8).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SharedBlock {
    data: NonNull<u8>,
}

// SAFETY: the header is made of atomics, constants and a `Sync` cell; the bytes are accessed atomically (B3).
unsafe impl Send for SharedBlock {}
// SAFETY: as above.
unsafe impl Sync for SharedBlock {}

impl SharedBlock {
    /// A block of `len` zeroed bytes.
    ///
    /// # Errors
    /// When there is not that much memory.
    pub fn new(len: usize) -> Result<Self, BlockError> {
        Self::allocate(len, len, false, None)
    }

    /// As [`new`](Self::new), charged to `budget` until the last handle is dropped. The table of its waiters, once there is
    /// one, counts too, but is never refused.
    ///
    /// # Errors
    /// When there is not that much memory, or the budget has not so much left.
    pub fn charged_to(budget: &Arc<MemoryBudget>, len: usize) -> Result<Self, BlockError> {
        Self::allocate(len, len, false, Some(budget))
    }

    /// A block of `len` zeroed bytes that can [`grow`](Self::grow) to `max_len`.
    ///
    /// # Errors
    /// When `len` is greater than `max_len`, or there is not that much memory.
    pub fn growable(len: usize, max_len: usize) -> Result<Self, BlockError> {
        Self::allocate(len, max_len, true, None)
    }

    /// As [`growable`](Self::growable), charged to `budget`: all of `max_len` at once, so that there is always memory to grow
    /// into.
    ///
    /// # Errors
    /// As [`growable`](Self::growable), or when the budget has not so much left.
    pub fn growable_charged_to(
        budget: &Arc<MemoryBudget>,
        len: usize,
        max_len: usize,
    ) -> Result<Self, BlockError> {
        Self::allocate(len, max_len, true, Some(budget))
    }

    fn allocate(
        len: usize,
        max_len: usize,
        growable: bool,
        budget: Option<&Arc<MemoryBudget>>,
    ) -> Result<Self, BlockError> {
        if len > max_len {
            return Err(BlockError::BeyondMaximum { len, max_len });
        }
        let no_memory = BlockError::OutOfMemory { len: max_len };
        let Some(layout) = layout(max_len) else { return Err(no_memory) };
        let charge = match budget.map(|budget| budget.charge(layout.size())) {
            Some(None) => return Err(no_memory),
            charge => charge.flatten(),
        };
        // Zeroed by the allocator and not by us: what is only reserved stays untouched.
        // SAFETY: the layout is not empty, it has a header.
        let Some(start) = NonNull::new(unsafe { alloc_zeroed(layout) }) else { return Err(no_memory) };
        let header = Header {
            count: AtomicUsize::new(1),
            len: AtomicUsize::new(len),
            max_len,
            growable,
            queues: OnceLock::new(),
            charge,
        };
        // SAFETY: the allocation begins with room for a header, aligned, and goes on for the bytes (makes B1 true).
        unsafe {
            start.cast::<Header>().write(header);
            Ok(Self { data: start.add(OFFSET) })
        }
    }

    /// The current length in bytes. It only ever grows.
    pub fn len(&self) -> usize {
        self.header().len.load(Ordering::SeqCst)
    }

    /// Whether it has no bytes at the moment.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The length in bytes that it may grow to; of a block that is not growable, its length.
    pub fn max_len(&self) -> usize {
        self.header().max_len
    }

    /// Whether it was made growable.
    pub fn is_growable(&self) -> bool {
        self.header().growable
    }

    /// Makes it `new_len` bytes long, for everyone who shares it. The new bytes are zero; waiters are not disturbed.
    ///
    /// # Errors
    /// When the block is not growable, would shrink, or would go beyond its maximum (ECMA-262,
    /// SharedArrayBuffer.prototype.grow). Nothing is changed then.
    pub fn grow(&self, new_len: usize) -> Result<(), GrowError> {
        let header = self.header();
        if !header.growable {
            return Err(GrowError::Fixed);
        }
        if new_len > header.max_len {
            return Err(GrowError::BeyondMaximum { new_len, max_len: header.max_len });
        }
        if new_len == self.len() {
            return Ok(());
        }
        let _announced = growth::begin();
        let grown = |len| (new_len >= len).then_some(new_len);
        match header.len.fetch_update(Ordering::SeqCst, Ordering::SeqCst, grown) {
            Ok(_) => Ok(()),
            Err(len) => Err(GrowError::Shrinks { new_len, len }),
        }
    }

    /// The address of the first byte, a multiple of 16 on 64-bit processors, and of 8 on others. It stays the same for the block's life.
    pub fn as_ptr(&self) -> *mut u8 {
        self.data.as_ptr()
    }

    /// The address as a number, to tell blocks apart in messages.
    pub fn id(&self) -> usize {
        self.data.addr().get()
    }

    /// The table in which the waiters on this block's words are queued.
    pub fn table(&self) -> &Table {
        &self.queues().table
    }

    /// Its entry in the list of all blocks, which it is in from now on.
    #[cfg(feature = "observe")]
    pub(crate) fn observed(&self) -> &Observed {
        &self.queues().observed
    }

    fn queues(&self) -> &Queues {
        let header = self.header();
        let make = || {
            let shards = (header.max_len / BYTES_PER_SHARD).clamp(FEWEST_SHARDS, MOST_SHARDS);
            let charge = header.charge.as_ref().map(|charge| charge.extra(shards * BYTES_OF_A_SHARD));
            Queues {
                table: Table::with_shards(shards),
                _charge: charge,
                #[cfg(feature = "observe")]
                observed: Observed::enter(self.data),
            }
        };
        header.queues.get_or_init(make)
    }

    /// Gives the address of the first byte and this count to somebody who carries it through C.
    #[must_use = "the count that goes with the pointer is lost"]
    pub fn into_raw(self) -> *mut u8 {
        std::mem::ManuallyDrop::new(self).as_ptr()
    }

    /// Takes back what [`into_raw`](Self::into_raw) gave.
    ///
    /// # Safety
    /// `data` came from `into_raw`, and its count has not been taken back before. Or the result is never dropped, and the count
    /// stays where it is for as long as the result is used.
    pub unsafe fn from_raw(data: *mut u8) -> Self {
        // SAFETY: `into_raw` gave it, so it is not null and B1 holds; the count comes with it (B2).
        Self { data: unsafe { NonNull::new_unchecked(data) } }
    }

    /// Another count for a block that somebody holds, by its address.
    ///
    /// # Safety
    /// `data` is the [`as_ptr`](Self::as_ptr) of a block that stays counted during the call.
    pub unsafe fn clone_from_raw(data: *mut u8) -> Self {
        // SAFETY: as `from_raw`, but the count is left where it is: only the clone is given out.
        std::mem::ManuallyDrop::new(unsafe { Self::from_raw(data) }).deref().clone()
    }

    /// The blocks that have a table.
    #[cfg(feature = "observe")]
    pub(crate) fn all() -> Vec<Self> {
        block_list::collect(|data| {
            // SAFETY: B4: the header is there, because the list's lock is held. No handle is made of it without a count to go with it.
            let count = unsafe { &data.sub(OFFSET).cast::<Header>().as_ref().count };
            // Unless the last owner has begun to free it. Acquire: what that owner's predecessors did comes before what we do.
            let more = |count: usize| (count > 0).then_some(count + 1);
            count.fetch_update(Ordering::Acquire, Ordering::Relaxed, more).ok().map(|_| Self { data })
        })
    }

    /// How many handles to this block there are, words among them. When ours is the only one left, all that others did with the
    /// block happens before this returns.
    pub(crate) fn handles(&self) -> usize {
        self.header().count.load(Ordering::Acquire)
    }

    /// # Safety
    /// A `borrow_word` of this type and at this index has succeeded on this block.
    pub(crate) unsafe fn word_at<W: Word>(&self, byte_index: usize) -> &W {
        // SAFETY: bounds and alignment were checked, by the caller's promise; a block never shrinks, and a `Word` is an atomic
        // of the standard library, for which any bytes are a value (B3).
        unsafe { self.data.add(byte_index).cast::<W>().as_ref() }
    }

    fn header(&self) -> &Header {
        // SAFETY: B1, and our own count keeps it (B2).
        unsafe { self.start().as_ref() }
    }

    fn start(&self) -> NonNull<Header> {
        // SAFETY: B1: the data begins `OFFSET` bytes into the allocation.
        unsafe { self.data.sub(OFFSET).cast() }
    }
}

impl Clone for SharedBlock {
    fn clone(&self) -> Self {
        // Relaxed as in `Arc`: the handle that is cloned has a count already, so nothing needs to be ordered by it.
        let before = self.header().count.fetch_add(1, Ordering::Relaxed);
        // Scripts can leak handles; before the count can overflow into a use after free the process ends.
        if before > isize::MAX as usize {
            std::process::abort();
        }
        Self { data: self.data }
    }
}

impl Drop for SharedBlock {
    fn drop(&mut self) {
        let header = self.header();
        // Release: what this owner did comes before the freeing. Acquire: the one that frees comes after all. By a load, as a
        // thread sanitizer does not see what a fence does.
        if header.count.fetch_sub(1, Ordering::Release) != 1 {
            return;
        }
        header.count.load(Ordering::Acquire);
        #[cfg(feature = "observe")]
        if let Some(queues) = header.queues.get() {
            queues.observed.leave();
        }
        let max_len = header.max_len;
        // SAFETY: the count was the last (B2), so nobody else reaches the allocation, which has this layout (B1).
        unsafe {
            let start = self.start();
            start.drop_in_place();
            dealloc(start.as_ptr().cast(), layout(max_len).unwrap_unchecked());
        }
    }
}

impl PartialEq for SharedBlock {
    /// Whether they are the same block.
    fn eq(&self, other: &Self) -> bool {
        self.data == other.data
    }
}

impl Eq for SharedBlock {}

impl fmt::Debug for SharedBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedBlock")
            .field("data", &self.data)
            .field("len", &self.len())
            .field("max_len", &self.max_len())
            .finish_non_exhaustive()
    }
}

fn layout(max_len: usize) -> Option<Layout> {
    let size = OFFSET.checked_add(max_len)?;
    Layout::from_size_align(size, align_of::<Header>()).ok()
}
