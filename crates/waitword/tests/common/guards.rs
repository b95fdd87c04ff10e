//! What the guards of all locks have in common, for tests of what each of them can do.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use waitword::{Mutex, RwLock};

/// A queued waiter for the exclusive lock.
pub(crate) type Queued = Pin<Box<dyn Future<Output = Box<dyn Send>> + Send>>;

/// What the guards of all locks have in common here.
pub(crate) trait Lock: Send + Sync + Default + 'static {
    fn queued(self: &Arc<Self>, waker: &Waker) -> Queued;

    /// Waits for the exclusive lock.
    fn alone(self: &Arc<Self>) -> Box<dyn Send>;

    fn is_free(&self) -> bool;
}

impl Lock for Mutex<u8> {
    fn queued(self: &Arc<Self>, waker: &Waker) -> Queued {
        let locked = self.lock_owned_async();
        pending(Box::pin(async { Box::new(locked.await) as _ }), waker)
    }

    fn alone(self: &Arc<Self>) -> Box<dyn Send> {
        Box::new(self.lock_owned())
    }

    fn is_free(&self) -> bool {
        self.try_lock().is_some()
    }
}

impl Lock for RwLock<u8> {
    fn queued(self: &Arc<Self>, waker: &Waker) -> Queued {
        let written = self.write_owned_async();
        pending(Box::pin(async { Box::new(written.await) as _ }), waker)
    }

    fn alone(self: &Arc<Self>) -> Box<dyn Send> {
        Box::new(self.write_owned())
    }

    fn is_free(&self) -> bool {
        self.try_write().is_some()
    }
}

/// A waker that panics.
pub(crate) struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("the waker");
    }
}

fn pending(mut future: Queued, waker: &Waker) -> Queued {
    assert!(future.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
    future
}
