//! `Semaphore`: acquirers of few and many, permits that come and go, and the end of it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use std::thread;

use waitword::Semaphore;

use crate::Scene;
use crate::common::semaphore::waiters;
use crate::common::{block_on, far, until};
use crate::party::Party;

pub(crate) struct OneSemaphore {
    semaphore: Semaphore,
    permits: usize,
}

impl OneSemaphore {
    /// Some go away, and come back, perhaps to others.
    fn change(&self, me: &mut Party) {
        if me.one_in(4) {
            let forgotten = self.semaphore.forget_permits(1);
            me.linger();
            self.semaphore.add_permits(forgotten);
        }
    }
}

impl Scene for OneSemaphore {
    fn new(_parties: usize, draw: &mut Party) -> Self {
        let permits = 1 + draw.below(4);
        Self { semaphore: Semaphore::new(permits), permits }
    }

    fn thread(&self, me: &mut Party) {
        for _ in 0..me.steps() {
            let many = 1 + me.below(self.permits);
            let permit = match me.below(6) {
                0 => self.semaphore.try_acquire_many(many).ok(),
                1 => self.semaphore.acquire_for(me.short()).ok(),
                2 => self.semaphore.acquire_until(far()).ok(),
                _ => self.semaphore.acquire_many(many).ok(),
            };
            if let Some(mut permit) = permit {
                me.linger();
                if me.one_in(4) {
                    drop(permit.split(1));
                }
            }
            self.change(me);
        }
    }

    fn task<'a>(&'a self, me: &'a mut Party) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            for _ in 0..me.steps() {
                let many = 1 + me.below(self.permits);
                let permit = match me.below(6) {
                    0..2 => me.drop_soon(self.semaphore.acquire_many_async(many)).await.and_then(Result::ok),
                    2 => self.semaphore.acquire_many_async_for(many, me.short()).await.ok(),
                    3 => self.semaphore.acquire_async_until(far()).await.ok(),
                    _ => self.semaphore.acquire_many_async(many).await.ok(),
                };
                if permit.is_some() {
                    me.linger_async().await;
                }
                drop(permit);
                self.change(me);
            }
        })
    }

    fn check(&self) {
        assert_eq!(self.semaphore.available_permits(), self.permits);
    }
}

/// No acquirer gets a permit; one closes it.
pub(crate) struct ClosedSemaphore(Semaphore);

impl Scene for ClosedSemaphore {
    fn new(_parties: usize, _draw: &mut Party) -> Self {
        Self(Semaphore::new(0))
    }

    fn thread(&self, me: &mut Party) {
        if me.index == 0 {
            me.linger();
            return self.0.close();
        }
        match me.below(4) {
            0 => assert!(self.0.acquire_for(me.short()).is_err()),
            1 => assert!(self.0.acquire_until(far()).is_err()),
            _ => assert!(self.0.acquire().is_err()),
        }
    }

    fn task<'a>(&'a self, me: &'a mut Party) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            if me.index == 0 {
                me.linger_async().await;
                return self.0.close();
            }
            match me.below(4) {
                0 => drop(me.drop_soon(self.0.acquire_async()).await),
                1 => assert!(self.0.acquire_async_until(far()).await.is_err()),
                _ => assert!(self.0.acquire_many_async(2).await.is_err()),
            }
        })
    }

    fn check(&self) {
        assert!(self.0.is_closed());
    }
}

/// Waiters of all kinds get their permits in the order in which they enqueued. The watchdog would skip one that does not run for 20 ms.
#[test]
fn first_in_first_out_for_threads_and_tasks() {
    waitword::disable_stall_timeout();
    let semaphore = Semaphore::new(0);
    let order = Mutex::new(Vec::new());
    // The order is noted while no other has a permit.
    let note = |waiter| order.lock().unwrap().push(waiter);
    thread::scope(|scope| {
        for waiter in 0..9 {
            let (semaphore, note) = (&semaphore, &note);
            scope.spawn(move || {
                let _permits = match waiter % 3 {
                    0 => semaphore.acquire().unwrap(),
                    1 => block_on(semaphore.acquire_many_async(2)).unwrap(),
                    _ => semaphore.acquire_many_until(3, far()).unwrap(),
                };
                note(waiter);
            });
            until(|| waiters(semaphore) > waiter);
        }
        semaphore.add_permits(3);
    });
    // Some run at the same time, but none before its turn: a holder of all three is alone.
    let order = order.into_inner().unwrap();
    for (turn, waiter) in order.iter().enumerate() {
        assert_eq!(turn / 3, waiter / 3, "{order:?}");
        assert_eq!(turn % 3 == 2, waiter % 3 == 2, "{order:?}");
    }
}
