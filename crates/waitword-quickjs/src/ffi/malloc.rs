//! The allocator of an engine whose memory is limited: the system's, with a header that records what is counted. `heap.rs` decides what may
//! be allocated.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, realloc as grow};
use std::ffi::c_void;
use std::ptr::NonNull;

use rquickjs_sys as qjs;

use super::heap::{HEADER, Heap};

/// The header before the bytes that the engine gets. Its alignment is the one that C expects of an allocation. On 32 bits half of the header
/// is padding, so it has 16 bytes there, too.
#[repr(align(16))]
struct Header {
    /// The requested bytes.
    bytes: usize,
    /// The bytes charged to the agent's budget: all of the allocation, or 0 for memory of the host.
    counted: usize,
}

const OFFSET: usize = size_of::<Header>();
const _: () = assert!(OFFSET == HEADER);

/// How much more `new` is than `old`, and how much less.
fn difference(new: usize, old: usize) -> (usize, usize) {
    (new.saturating_sub(old), old.saturating_sub(new))
}

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(OFFSET)?, align_of::<Header>()).ok()
}

/// The engine calls these with the address of its [`Heap`] (9). They never panic.
pub(super) const FUNCTIONS: qjs::JSMallocFunctions = qjs::JSMallocFunctions {
    js_calloc: Some(calloc),
    js_malloc: Some(malloc),
    js_free: Some(free),
    js_realloc: Some(realloc),
    js_malloc_usable_size: Some(usable_size),
};

/// # Safety
/// `allocate` returns memory that can be freed with the layout that it gets.
unsafe fn allocate(heap: &Heap, bytes: usize, allocate: unsafe fn(Layout) -> *mut u8) -> *mut c_void {
    let Some(layout) = layout(bytes) else { return std::ptr::null_mut() };
    let counted = if heap.is_hosts.get() { 0 } else { layout.size() };
    match counted {
        0 => heap.budget.take_of_whole(layout.size()),
        _ if heap.admit(counted) => {}
        _ => return std::ptr::null_mut(),
    }
    // SAFETY: the layout is not empty, it has a header.
    let Some(start) = NonNull::new(unsafe { allocate(layout) }) else {
        heap.give_back(layout.size(), counted);
        return std::ptr::null_mut();
    };
    // SAFETY: the allocation begins with room for a header.
    unsafe {
        start.cast::<Header>().write(Header { bytes, counted });
        start.add(OFFSET).as_ptr().cast()
    }
}

unsafe extern "C" fn malloc(heap: *mut c_void, bytes: qjs::size_t) -> *mut c_void {
    // SAFETY: (9).
    unsafe { allocate(&*heap.cast::<Heap>(), bytes as usize, alloc) }
}

unsafe extern "C" fn calloc(heap: *mut c_void, count: qjs::size_t, bytes: qjs::size_t) -> *mut c_void {
    let Some(bytes) = (count as usize).checked_mul(bytes as usize) else { return std::ptr::null_mut() };
    // SAFETY: (9).
    unsafe { allocate(&*heap.cast::<Heap>(), bytes, alloc_zeroed) }
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
        // How much more is counted now, and how much less: for memory that stays the host's, that becomes a script's, and that is a
        // script's already. Both sizes are never charged at the same time, because that could make others that share the whole fail.
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

/// The engine calls this also for memory that it has just got, but never with null.
unsafe extern "C" fn usable_size(data: *const c_void) -> qjs::size_t {
    if data.is_null() {
        return 0;
    }
    // SAFETY: (9): a header precedes what the engine was given.
    unsafe { (*data.cast::<u8>().sub(OFFSET).cast::<Header>()).bytes as qjs::size_t }
}

/// Returns freed memory to the system. glibc keeps memory that was freed between other allocations for later use. After very many waits, that
/// can be most of the process's memory, although the program may never have so many waits again. Other allocators return memory by
/// themselves.
///
/// This takes longer the more memory the process has. So call it after very many waits, when the agent is idle.
pub(crate) fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            safe fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // Ignored: whether anything was returned to the system.
        let _ = malloc_trim(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use waitword_agents::MemoryBudget;

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
