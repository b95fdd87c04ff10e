//! `Event`: a baton, where each wakeup is passed on by the one that had it; and a meeting, where the last wakes all.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};

use waitword::Event;

use crate::Scene;
use crate::common::far;
use crate::party::Party;

/// There is one wakeup at any time. A waiter that has had it as often as it wants forwards it and leaves.
pub(crate) struct Baton {
    event: Event,
    had: AtomicUsize,
    passed: AtomicUsize,
}

impl Baton {
    fn pass(&self) {
        self.passed.fetch_add(1, Ordering::SeqCst);
        self.event.notify_one();
    }
}

impl Scene for Baton {
    fn new(_parties: usize, _draw: &mut Party) -> Self {
        let baton = Self { event: Event::new(), had: AtomicUsize::new(0), passed: AtomicUsize::new(0) };
        baton.pass();
        baton
    }

    fn thread(&self, me: &mut Party) {
        for _ in 0..me.steps() {
            let woken = match me.below(6) {
                0 => self.event.try_wait(),
                1 => self.event.wait_for(me.short()).is_ok(),
                2 => self.event.wait_until(far()).is_ok(),
                3 => {
                    let listener = pin!(self.event.listen());
                    me.linger();
                    // Perhaps it leaves with a wakeup that came meanwhile.
                    me.one_in(2) && {
                        listener.wait();
                        true
                    }
                }
                _ => {
                    self.event.wait();
                    true
                }
            };
            if woken {
                self.had.fetch_add(1, Ordering::SeqCst);
                me.linger();
                self.pass();
            }
        }
    }

    fn task<'a>(&'a self, me: &'a mut Party) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            for _ in 0..me.steps() {
                let woken = match me.below(6) {
                    0..2 => me.drop_soon(self.event.wait_async()).await.is_some(),
                    2 => self.event.wait_async_for(me.short()).await.is_ok(),
                    3 => self.event.wait_async_until(far()).await.is_ok(),
                    _ => {
                        self.event.wait_async().await;
                        true
                    }
                };
                if woken {
                    self.had.fetch_add(1, Ordering::SeqCst);
                    me.linger_async().await;
                    self.pass();
                }
            }
        })
    }

    fn check(&self) {
        assert!(self.event.try_wait(), "the baton is lost");
        assert!(!self.event.try_wait(), "there are two");
        let (had, passed) = (self.had.load(Ordering::SeqCst), self.passed.load(Ordering::SeqCst));
        assert_eq!(had + 1, passed);
    }
}

/// None goes on before all have come.
pub(crate) struct Meeting {
    event: Event,
    come: AtomicUsize,
    parties: usize,
}

impl Meeting {
    fn come(&self) {
        if self.come.fetch_add(1, Ordering::SeqCst) + 1 == self.parties {
            self.event.notify_all();
        }
    }

    fn all_are_here(&self) -> bool {
        self.come.load(Ordering::SeqCst) == self.parties
    }
}

impl Scene for Meeting {
    fn new(parties: usize, _draw: &mut Party) -> Self {
        Self { event: Event::new(), come: AtomicUsize::new(0), parties }
    }

    fn thread(&self, me: &mut Party) {
        me.linger();
        self.come();
        loop {
            let mut listener = pin!(self.event.listen());
            if self.all_are_here() {
                return;
            }
            // The last may come here.
            me.linger();
            match me.below(4) {
                0 => _ = listener.as_mut().wait_for(me.short()),
                _ => listener.as_mut().wait(),
            }
        }
    }

    fn task<'a>(&'a self, me: &'a mut Party) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            me.linger_async().await;
            self.come();
            loop {
                let wait = self.event.wait_async();
                if self.all_are_here() {
                    return;
                }
                me.linger_async().await;
                match me.below(4) {
                    0 => _ = me.drop_soon(wait).await,
                    _ => wait.await,
                }
            }
        })
    }

    fn check(&self) {
        assert_eq!(self.event.waiters(), 0);
    }
}
