//! A deadlock of two threads and a task. `docs/try-it.md` says how to observe it.
//!
//! ```text
//!   thread "import"            task                       thread "audit"
//!   ACCOUNTS.lock()            LEDGER.lock().await        JOURNAL.lock_blocking()
//!   LEDGER.lock_blocking()     JOURNAL.lock().await       ACCOUNTS.lock()
//! ```

use std::thread::{Builder, JoinHandle};

static ACCOUNTS: parking_lot::Mutex<u64> = parking_lot::Mutex::new(0);
static LEDGER: async_lock::Mutex<u64> = async_lock::Mutex::new(0);
static JOURNAL: async_lock::Mutex<Vec<u64>> = async_lock::Mutex::new(Vec::new());

/// Reached by each party when it holds its first lock, so that none acquires its second lock before.
static EACH_HAS_ONE: async_lock::Barrier = async_lock::Barrier::new(3);

fn main() {
    let import = spawn("import", || {
        let accounts = ACCOUNTS.lock();
        EACH_HAS_ONE.wait_blocking();
        *LEDGER.lock_blocking() += *accounts;
    });
    let audit = spawn("audit", || {
        let journal = JOURNAL.lock_blocking();
        EACH_HAS_ONE.wait_blocking();
        assert_eq!(journal.last(), Some(&*ACCOUNTS.lock()));
    });
    let transfer = smol::spawn(async {
        let ledger = LEDGER.lock().await;
        EACH_HAS_ONE.wait().await;
        JOURNAL.lock().await.push(*ledger);
    });
    smol::block_on(transfer);
    for thread in [import, audit] {
        thread.join().expect("no panic");
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    Builder::new().name(name.into()).spawn(run).expect("a thread")
}
