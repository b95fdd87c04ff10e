//! `OnceLock`: turns to make the value that fail or are dropped, and waits for it.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};

use waitword::OnceLock;

use crate::Scene;
use crate::common::far;
use crate::party::Party;

const VALUE: u32 = 7;

pub(crate) struct OneOnceLock {
    lock: OnceLock<u32>,
    /// So many turns fail.
    fail: AtomicUsize,
}

impl OneOnceLock {
    fn turn(&self) -> Result<u32, ()> {
        let fails = self.fail.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if fails.is_ok() { Err(()) } else { Ok(VALUE) }
    }
}

impl Scene for OneOnceLock {
    fn new(parties: usize, draw: &mut Party) -> Self {
        Self { lock: OnceLock::new(), fail: AtomicUsize::new(draw.below(parties)) }
    }

    fn thread(&self, me: &mut Party) {
        let value = match me.below(4) {
            // The first goes on until there is a value.
            0 if me.index > 0 => {
                let _ = self.lock.wait_for(me.short());
                return;
            }
            1 if me.index > 0 => self.lock.wait_until(far()).unwrap(),
            2 if me.index > 0 => self.lock.wait(),
            _ => loop {
                let made = self.lock.get_or_try_init(|| {
                    me.linger();
                    self.turn()
                });
                if let Ok(made) = made {
                    break made;
                }
            },
        };
        assert_eq!(*value, VALUE);
    }

    fn task<'a>(&'a self, me: &'a mut Party) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            let value = match me.below(5) {
                0 if me.index > 0 => {
                    me.drop_soon(self.lock.wait_async()).await;
                    return;
                }
                1 if me.index > 0 => self.lock.wait_async_until(far()).await.unwrap(),
                2 if me.index > 0 => self.lock.wait_async().await,
                // A turn that is dropped in the middle, or a place in the queue for it.
                3 if me.index > 0 => {
                    let make = self.lock.get_or_init_async(async || {
                        smol::future::yield_now().await;
                        VALUE
                    });
                    me.drop_soon(make).await;
                    return;
                }
                _ => loop {
                    let made = self.lock.get_or_try_init_async(async || {
                        smol::future::yield_now().await;
                        self.turn()
                    });
                    if let Ok(made) = made.await {
                        break made;
                    }
                },
            };
            assert_eq!(*value, VALUE);
        })
    }

    fn check(&self) {
        assert_eq!((self.lock.get(), self.lock.waiters()), (Some(&VALUE), 0));
    }
}
