//! Lock and unlock without contention.

use super::super::uncontended::{async_ready, blocking, limit};
use crate::locks::{
    AsyncLock, AsyncMutex, Asyncband, BlockingMutex, CasAndSwap, FuturesIntrusive, FuturesUtil, Maitake,
    Mutex, ParkingLot, Saa, Std, Tokio, Usync, Waitword,
};
use crate::scale::Scale;
use crate::series::{Sample, Unit};
use crate::workload::{Charts, Contender, Limit, OURS, Page, Workload, goal};

const BLOCKING: &str = "blocking";
const ASYNC: &str = "async, ready at the first poll";
const SIZE: &str = "size of a mutex of nothing";

pub(crate) fn workload() -> Workload {
    const LIMIT: &str = CasAndSwap::NAME;
    Workload {
        name: "mutex-uncontended",
        about: "Lock and unlock without contention: the fastest of twenty bursts.",
        baseline: LIMIT,
        contenders: vec![
            Contender { name: OURS, run: both::<Waitword> },
            Contender { name: LIMIT, run: |scale| limit([BLOCKING, ASYNC], scale) },
            Contender { name: ParkingLot::NAME, run: threads::<ParkingLot> },
            Contender { name: Std::NAME, run: threads::<Std> },
            Contender { name: Usync::NAME, run: threads::<Usync> },
            Contender { name: Saa::NAME, run: both::<Saa> },
            Contender { name: AsyncLock::NAME, run: both::<AsyncLock> },
            Contender { name: Tokio::NAME, run: both::<Tokio> },
            Contender { name: Asyncband::NAME, run: tasks::<Asyncband> },
            Contender { name: Maitake::NAME, run: tasks::<Maitake> },
            Contender { name: FuturesUtil::NAME, run: tasks::<FuturesUtil> },
            Contender { name: FuturesIntrusive::NAME, run: tasks::<FuturesIntrusive> },
        ],
        goals: vec![
            goal(BLOCKING, Limit::Times(1.05, LIMIT)),
            goal(ASYNC, Limit::Times(1.05, LIMIT)),
            goal(SIZE, Limit::Value(4.0)),
        ],
        page: Page::Locks,
        charts: Charts::None,
    }
}

fn threads<M: BlockingMutex>(scale: &Scale) -> Vec<Sample> {
    vec![Sample::new(BLOCKING, 1, Unit::Nanos, blocking::<M>(scale)), size::<M>()]
}

fn tasks<M: AsyncMutex>(scale: &Scale) -> Vec<Sample> {
    vec![Sample::new(ASYNC, 1, Unit::Nanos, async_ready::<M>(scale)), size::<M>()]
}

fn both<M: BlockingMutex + AsyncMutex>(scale: &Scale) -> Vec<Sample> {
    [threads::<M>(scale), tasks::<M>(scale)[..1].to_vec()].concat()
}

fn size<M>() -> Sample {
    Sample::new(SIZE, 1, Unit::Bytes, size_of::<M>() as f64)
}
