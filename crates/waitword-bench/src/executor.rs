//! The executors of a contest's tasks, and a thread as the executor of one future.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll};
use std::thread;

use waitword_core::Parker;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Executor {
    /// tokio's multi-threaded executor, with this number of workers.
    Tokio { workers: usize },
    /// async-executor, driven by one thread.
    AsyncExecutor,
}

impl Executor {
    /// Runs the tasks, and `meanwhile` on this thread. Returns the results of all of them.
    pub(crate) fn run<T, R>(
        self,
        tasks: impl Iterator<Item = impl Future<Output = T> + Send + 'static>,
        meanwhile: impl FnOnce() -> R,
    ) -> (Vec<T>, R)
    where
        T: Send + 'static,
    {
        match self {
            Self::Tokio { workers } => {
                let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(workers).build();
                let runtime = runtime.expect("the system has threads to spare");
                let tasks = tasks.map(|task| runtime.spawn(task)).collect::<Vec<_>>();
                let result = meanwhile();
                let outputs = tasks.into_iter().map(|task| block_on(task).expect("nothing in there panics"));
                (outputs.collect(), result)
            }
            Self::AsyncExecutor => {
                let executor = async_executor::Executor::new();
                let tasks = tasks.map(|task| executor.spawn(task)).collect::<Vec<_>>();
                let all = async {
                    let mut outputs = Vec::new();
                    for task in tasks {
                        outputs.push(task.await);
                    }
                    outputs
                };
                thread::scope(|scope| {
                    let worker = scope.spawn(|| block_on(executor.run(all)));
                    let result = meanwhile();
                    (worker.join().expect("nothing in there panics"), result)
                })
            }
        }
    }
}

/// Polls the future on this thread, which parks between polls.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let parker = Parker::current();
    let mut cx = Context::from_waker(parker.waker());
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => parker.park(),
        }
    }
}
