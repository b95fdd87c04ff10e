//! Threads for tests that start them in a worker: a pool that the page has started, because a worker that blocks cannot start another.

use std::sync::Arc;

use waitword::{Mutex, OnceLock, Semaphore};

type Job = Box<dyn FnOnce() + Send>;

static JOBS: Mutex<Vec<Job>> = Mutex::new(Vec::new());
static COUNT: Semaphore = Semaphore::new(0);

/// What a worker of the pool does, for ever.
pub(crate) fn serve() {
    loop {
        COUNT.acquire().expect("never closed").forget();
        let job = JOBS.lock().pop().expect("one for each permit");
        job();
    }
}

pub(crate) struct JoinHandle<T>(Arc<(OnceLock<()>, Mutex<Option<T>>)>);

pub(crate) fn spawn<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    let end = Arc::new((OnceLock::new(), Mutex::new(None)));
    let theirs = Arc::clone(&end);
    JOBS.lock().push(Box::new(move || {
        *theirs.1.lock() = Some(run());
        theirs.0.set(()).expect("it ends once");
    }));
    COUNT.add_permits(1);
    JoinHandle(end)
}

impl<T> JoinHandle<T> {
    pub(crate) fn join(self) -> Result<T, ()> {
        self.0.0.wait();
        self.0.1.lock().take().ok_or(())
    }
}
