//! futures-intrusive. Its queue with a "wake one" is that of a channel's receivers; what is sent has no size, so the
//! buffer costs a counter.

use futures_intrusive::buffer::GrowingHeapBuf;
use futures_intrusive::channel::{ChannelReceiveFuture, GenericChannel};
use parking_lot_0_12::RawMutex;

use super::{PerWord, Queue};

type Units = GenericChannel<RawMutex, (), GrowingHeapBuf<()>>;

pub(crate) type FuturesIntrusive = PerWord<Units>;

impl Queue for Units {
    const NAME: &'static str = "futures-intrusive";
    const NOTIFIES_ALL: bool = false;

    type Wait<'a> = ChannelReceiveFuture<'a, RawMutex, ()>;

    fn new() -> Self {
        Units::with_capacity(usize::MAX)
    }

    fn wait(&self) -> Self::Wait<'_> {
        self.receive()
    }

    fn notify_one(&self) {
        self.try_send(()).expect("the buffer has no end");
    }

    fn notify_all(&self) {
        self.notify_one();
    }
}
