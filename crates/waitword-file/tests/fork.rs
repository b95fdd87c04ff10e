//! What a child shares with its parent, and what it does not.
#![cfg(unix)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use waitword_file::{Error, FileMutex};

unsafe extern "C" {
    fn fork() -> i32;
    fn waitpid(child: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(status: i32) -> !;
}

/// In a file of its own: no other thread of this process is in the middle of anything.
#[test]
fn a_child_opens_anew_and_releases_nothing_of_its_parent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let lock = FileMutex::open(&path).unwrap();
    let guard = lock.lock().unwrap();
    // SAFETY: the child uses what works after a fork, and leaves by `_exit`.
    let child = unsafe { fork() };
    assert!(child >= 0);
    if child == 0 {
        let checks = || {
            assert!(matches!(lock.try_lock(), Err(Error::Forked)));
            assert!(matches!(lock.lock(), Err(Error::Forked)));
            drop(guard);
            let own = FileMutex::open(&path).unwrap();
            assert!(own.try_lock().unwrap().is_none(), "its parent's");
        };
        let panicked = catch_unwind(AssertUnwindSafe(checks)).is_err();
        // SAFETY: it may be called at any time.
        unsafe { _exit(i32::from(panicked)) }
    }
    let mut status = -1;
    // SAFETY: the child is there, and the status is this function's.
    assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "the child has failed");
    drop(guard);
    assert!(lock.try_lock().unwrap().is_some());
}
