//! `Barrier`: several generations, with waits that give up and come again.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};

use waitword::Barrier;

use crate::Scene;
use crate::common::far;
use crate::party::Party;

const GENERATIONS: usize = 3;

pub(crate) struct OneBarrier {
    barrier: Barrier,
    leaders: AtomicUsize,
}

impl Scene for OneBarrier {
    fn new(parties: usize, _draw: &mut Party) -> Self {
        Self { barrier: Barrier::new(parties), leaders: AtomicUsize::new(0) }
    }

    fn thread(&self, me: &mut Party) {
        for _ in 0..GENERATIONS {
            me.linger();
            let passed = loop {
                match me.below(4) {
                    0 => {
                        if let Ok(passed) = self.barrier.wait_for(me.short()) {
                            break passed;
                        }
                    }
                    1 => break self.barrier.wait_until(far()).unwrap(),
                    _ => break self.barrier.wait(),
                }
            };
            self.leaders.fetch_add(usize::from(passed.is_leader()), Ordering::SeqCst);
        }
    }

    fn task<'a>(&'a self, me: &'a mut Party) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            for _ in 0..GENERATIONS {
                me.linger_async().await;
                let passed = loop {
                    match me.below(4) {
                        0 => {
                            // With its time up it has not arrived; dropped it might have passed unseen.
                            if let Ok(passed) = self.barrier.wait_async_for(me.short()).await {
                                break passed;
                            }
                        }
                        1 => break self.barrier.wait_async_until(far()).await.unwrap(),
                        _ => break self.barrier.wait_async().await,
                    }
                };
                self.leaders.fetch_add(usize::from(passed.is_leader()), Ordering::SeqCst);
            }
        })
    }

    fn check(&self) {
        assert_eq!((self.leaders.load(Ordering::SeqCst), self.barrier.arrived()), (GENERATIONS, 0));
    }
}
