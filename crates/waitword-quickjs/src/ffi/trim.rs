//! Freed memory, given back to the system.
//!
//! glibc keeps what was freed between other things for later allocations. After a crowd of waits that can be most of what the
//! process has, while the program may never have such a crowd again. Other allocators give memory back by themselves.

/// Takes the longer the more memory the process has: for after a crowd, when there is nothing else to do.
pub(crate) fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            safe fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // Whether there was anything to give back is nobody's concern.
        let _ = malloc_trim(0);
    }
}
