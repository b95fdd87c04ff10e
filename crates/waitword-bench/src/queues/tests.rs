//! What is measured has to work.

use super::*;
use crate::crowd::Crowd;

/// What is measured has to work: a notify ends the wait of its own word, and a cancelled wait takes none.
fn keeps_words_apart<Q: Queues>() {
    let queues = Q::with_words(2);
    let mut crowd = Crowd::new(3);
    crowd.enter(0, queues.wait(0));
    crowd.enter(1, queues.wait(1));
    queues.notify_one(1);
    crowd.finish(1);
    crowd.cancel(0);
    crowd.enter(2, queues.wait(0));
    queues.notify_one(0);
    crowd.finish(2);
}

fn wakes_in_order<Q: Queues>() {
    let queues = Q::with_words(1);
    let mut crowd = Crowd::new(4);
    (0..4).for_each(|i| crowd.enter(i, queues.wait(0)));
    queues.notify_one(0);
    crowd.finish(0);
    queues.notify_one(0);
    crowd.finish(1);
    if Q::NOTIFIES_ALL {
        queues.notify_all(0);
        crowd.finish(3);
        crowd.finish(2);
    }
}

macro_rules! adapters {
    ($($name:ident: $queues:ty, $($property:ident)*;)*) => {$(
        #[test]
        fn $name() {
            $($property::<$queues>();)*
        }
    )*};
}

adapters! {
    bare_list: BareList, keeps_words_apart wakes_in_order;
    event_listener: EventListener, keeps_words_apart wakes_in_order;
    futures_intrusive: FuturesIntrusive, keeps_words_apart wakes_in_order;
    hand_made: HandMade, keeps_words_apart wakes_in_order;
    maitake_map: MaitakeMap, keeps_words_apart;
    maitake_queue: MaitakeQueue, keeps_words_apart wakes_in_order;
    tokio_notify: TokioNotify, keeps_words_apart wakes_in_order;
    waitword: Waitword, keeps_words_apart wakes_in_order;
}
