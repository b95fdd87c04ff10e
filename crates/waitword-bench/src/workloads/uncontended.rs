//! Acquiring and releasing a lock without contention.

use std::future::Future as _;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::locks::{AsyncMutex, BlockingMutex, CasAndSwap};
use crate::measure::Stopwatch;
use crate::scale::Scale;
use crate::series::{Sample, Unit};

/// Nanoseconds of CPU time to lock and unlock as a thread.
pub(super) fn blocking<M: BlockingMutex>(scale: &Scale) -> f64 {
    let mutex = M::new();
    fastest(scale, |times| {
        for _ in 0..times {
            drop(black_box(&mutex).lock());
        }
    })
}

/// Nanoseconds of CPU time to lock and unlock by a future that is ready at its first poll.
pub(super) fn async_ready<M: AsyncMutex>(scale: &Scale) -> f64 {
    let mutex = M::new();
    fastest(scale, |times| {
        let turns = pin!(async {
            for _ in 0..times {
                drop(black_box(&mutex).lock_async().await);
            }
        });
        let done = turns.poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(done, Poll::Ready(()), "it is uncontended");
    })
}

/// The limit of a lock by these names. The same for both sides, for a future need not do more.
pub(super) fn limit(whats: [&'static str; 2], scale: &Scale) -> Vec<Sample> {
    let nanos = blocking::<CasAndSwap>(scale);
    whats.map(|what| Sample::new(what, 1, Unit::Nanos, nanos)).to_vec()
}

/// CPU time of one of the `times` in the fastest of the bursts.
fn fastest(scale: &Scale, burst: impl Fn(usize)) -> f64 {
    let times = scale.operations(100_000);
    let bursts = (0..20).map(|_| {
        let mut watch = Stopwatch::default();
        watch.time(times, || burst(times));
        watch.cpu_nanos()
    });
    bursts.fold(f64::INFINITY, f64::min)
}
