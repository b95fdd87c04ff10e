//! Shared memory, and the wait table that belongs to it: the standard's Shared Data Block.
//!
//! One allocation: a header, then the bytes. The address of the first byte is the block's identity; it never moves,
//! and engines carry it through their C interfaces (`into_raw`, `from_raw`).
//!
//! # Invariants
//! - **B1** `data` points `OFFSET` bytes behind the start of an allocation of `layout(max_len)` that begins with an
//!   initialised `Header`, for as long as the count is not 0.
//! - **B2** Every `SharedBlock`, and every raw pointer from [`SharedBlock::into_raw`], owns one count.
//! - **B3** The bytes are zeroed at allocation. Rust touches them only through atomics; scripts may race with plain
//!   accesses of their own, as their memory model allows. Accesses of 32 and of 64 bits to the same bytes may race too.
//!   Rust's memory model (that of C++) does not define such races. As engines do, we rely on how the processors that
//!   Rust compiles for treat them. Rust code that never accesses the same bytes in two sizes relies on nothing beyond the model.
//! - **B4** Every address in the list of blocks (`block_list.rs`) is that of an allocation as in B1, because the last owner removes the
//!   block from the list, under the list's lock, before it frees it. Under that lock a count that is not 0 may be incremented.
//!
//! The waiters on a block's words queue in a table that the block owns. So a new block at the address of a freed one never
//! meets the old waiters, and freeing a block frees all that it costs.

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

/// A block has one shard per so many bytes. A large block may have many waiters, and a shard, which is resized in one step, has to stay
/// small.
const BYTES_PER_SHARD: usize = 16 << 10;
/// Threads that use the words of one block contend for its shards. A small block has few shards, because there may be many blocks.
const FEWEST_SHARDS: usize = 8;
const MOST_SHARDS: usize = 256;
/// The memory of a shard while few of its words are waited on (see [`Table::with_shards`]).
const BYTES_OF_A_SHARD: usize = 300;

/// Where the bytes begin. Aligned for the widest access that an engine makes, which is 8 bytes.
const OFFSET: usize = size_of::<Header>();

/// Aligned no more strictly than every allocation of the system. For a stricter alignment the standard library allocates memory that is
/// not zeroed and writes the zeros itself, which touches every page.
#[cfg_attr(target_pointer_width = "64", repr(align(16)))]
#[cfg_attr(not(target_pointer_width = "64"), repr(align(8)))]
struct Header {
    count: AtomicUsize,
    len: AtomicUsize,
    max_len: usize,
    growable: bool,
    /// Created by the first wait or notify.
    queues: OnceLock<Queues>,
    /// What the block costs the budget of the agent that created it, until the block is freed.
    charge: Option<Charge>,
}

struct Queues {
    table: Table,
    /// What the table costs the same budget.
    _charge: Option<Charge>,
    /// The block's entry in the list of all blocks, and the history of its words.
    #[cfg(feature = "observe")]
    observed: Observed,
}

/// A reference-counted block of shared memory, as behind a SharedArrayBuffer. Clones refer to the same block; dropping the last one
/// frees it.
///
/// Lengths are in bytes. A growable block is allocated at its maximum length when it is created, and its bytes are zero.
///
/// # Memory
/// The bytes come from the global allocator's `alloc_zeroed`. The system's allocator serves a large block (from 128 KiB to 32 MiB up,
/// depending on the system) with fresh pages, which take memory only when they are touched: a block of 1 GiB is created in microseconds.
/// An allocator that writes the zeros itself (most replacements of the system's do not) takes all of a block's memory at once.
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
    /// Creates a block of `len` zeroed bytes.
    ///
    /// # Errors
    /// [`BlockError::OutOfMemory`] if the allocation fails.
    pub fn new(len: usize) -> Result<Self, BlockError> {
        Self::allocate(len, len, false, None)
    }

    /// Creates a block of `len` zeroed bytes, charged to `budget` until the last handle is dropped. The block's wait table, created by
    /// the first wait or notify, is charged too, but never refused.
    ///
    /// # Errors
    /// [`BlockError::OutOfMemory`] if the allocation fails or exceeds what is left of the budget.
    pub fn charged_to(budget: &Arc<MemoryBudget>, len: usize) -> Result<Self, BlockError> {
        Self::allocate(len, len, false, Some(budget))
    }

    /// Creates a block of `len` zeroed bytes that can [`grow`](Self::grow) to `max_len` bytes.
    ///
    /// # Errors
    /// [`BlockError::BeyondMaximum`] if `len` is greater than `max_len`; [`BlockError::OutOfMemory`] if the allocation fails.
    pub fn growable(len: usize, max_len: usize) -> Result<Self, BlockError> {
        Self::allocate(len, max_len, true, None)
    }

    /// Creates a block of `len` zeroed bytes that can [`grow`](Self::grow) to `max_len` bytes, and charges `max_len` to `budget` at
    /// once, so that growing never fails for lack of memory.
    ///
    /// # Errors
    /// [`BlockError::BeyondMaximum`] if `len` is greater than `max_len`; [`BlockError::OutOfMemory`] if the allocation fails or exceeds
    /// what is left of the budget.
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
        // Zeroed by the allocator and not by us, so that pages which are only reserved stay untouched.
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
        // SAFETY: by its layout the allocation begins with an aligned header, and the bytes follow it (establishes B1).
        unsafe {
            start.cast::<Header>().write(header);
            Ok(Self { data: start.add(OFFSET) })
        }
    }

    /// Returns the current length in bytes. It never decreases.
    pub fn len(&self) -> usize {
        self.header().len.load(Ordering::SeqCst)
    }

    /// Returns whether the current length is 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the length in bytes to which the block may grow. For a block that is not growable, this is its length.
    pub fn max_len(&self) -> usize {
        self.header().max_len
    }

    /// Returns whether the block was created growable.
    pub fn is_growable(&self) -> bool {
        self.header().growable
    }

    /// Grows the block to `new_len` bytes, for all that share it. The new bytes are zero. Waiters stay queued.
    ///
    /// # Errors
    /// If the block is not growable, would shrink, or would exceed its maximum (ECMA-262, SharedArrayBuffer.prototype.grow). The block
    /// is unchanged then.
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

    /// Returns the address of the first byte: a multiple of 16 on 64-bit processors, of 8 on others. It never changes.
    pub fn as_ptr(&self) -> *mut u8 {
        self.data.as_ptr()
    }

    /// Returns the address as a number, which identifies the block in messages.
    pub fn id(&self) -> usize {
        self.data.addr().get()
    }

    /// Returns the table in which the waiters on this block's words are queued.
    pub fn table(&self) -> &Table {
        &self.queues().table
    }

    /// The block's entry in the list of all blocks. The first call adds the block to the list.
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

    /// Converts the handle into the address of the first byte, which owns the handle's count: for C interfaces.
    #[must_use = "the block leaks unless `from_raw` takes the pointer back"]
    pub fn into_raw(self) -> *mut u8 {
        std::mem::ManuallyDrop::new(self).as_ptr()
    }

    /// Converts a pointer from [`into_raw`](Self::into_raw) back into a handle, which owns the pointer's count again.
    ///
    /// # Safety
    /// One of two:
    /// - `data` came from `into_raw`, and was not passed to `from_raw` before.
    /// - `data` came from `into_raw`; the returned handle is never dropped, and is used only while the pointer still owns its count.
    pub unsafe fn from_raw(data: *mut u8) -> Self {
        // SAFETY: `into_raw` gave it, so it is not null and B1 holds; the count comes with it (B2).
        Self { data: unsafe { NonNull::new_unchecked(data) } }
    }

    /// Creates another handle to the block at an address.
    ///
    /// # Safety
    /// `data` is the [`as_ptr`](Self::as_ptr) of a block that has a handle throughout the call.
    pub unsafe fn clone_from_raw(data: *mut u8) -> Self {
        // SAFETY: as `from_raw`, but the caller's count stays: the handle made here is never dropped, only its clone is returned.
        std::mem::ManuallyDrop::new(unsafe { Self::from_raw(data) }).deref().clone()
    }

    /// The blocks that have a table.
    #[cfg(feature = "observe")]
    pub(crate) fn all() -> Vec<Self> {
        block_list::collect(|data| {
            // SAFETY: B4: the allocation exists, because the list's lock is held. A handle is made only after its count was added.
            let count = unsafe { &data.sub(OFFSET).cast::<Header>().as_ref().count };
            // None if the last owner has begun to free it. Acquire: what earlier owners did happens before what we do.
            let more = |count: usize| (count > 0).then_some(count + 1);
            count.fetch_update(Ordering::Acquire, Ordering::Relaxed, more).ok().map(|_| Self { data })
        })
    }

    /// The number of handles to this block, words included. If it is 1, all that other handles did with the block happens before this
    /// returns.
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
        // Release: what this owner did happens before the freeing. Acquire: the freeing happens after what all owners did. A load and
        // not a fence, because thread sanitizers do not understand fences.
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
    /// Returns whether both handles refer to the same block.
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
