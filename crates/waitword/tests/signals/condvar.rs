//! `Condvar`: a bounded queue, where each item is worth one notify; and a meeting, where the last notifies all.

use std::future::Future;
use std::pin::Pin;

use waitword::{Condvar, Mutex};

use crate::Scene;
use crate::common::far;
use crate::party::Party;

/// How many items each producer puts.
const EACH: usize = 6;

/// The first half of the parties put, the others take as much.
pub(crate) struct Queue {
    items: Mutex<usize>,
    room: usize,
    not_empty: Condvar,
    not_full: Condvar,
    putters: usize,
    takers: usize,
}

impl Queue {
    /// Whether one puts, and how many items are its share.
    fn share(&self, index: usize) -> (bool, usize) {
        if index < self.putters {
            return (true, EACH);
        }
        let (all, taker) = (self.putters * EACH, index - self.putters);
        (false, all / self.takers + usize::from(taker < all % self.takers))
    }

    fn must_wait(&self, puts: bool, items: usize) -> bool {
        if puts { items == self.room } else { items == 0 }
    }

    fn waits_at(&self, puts: bool) -> &Condvar {
        if puts { &self.not_full } else { &self.not_empty }
    }

    fn change(&self, puts: bool, items: &mut usize) {
        if puts {
            *items += 1;
            self.not_empty.notify_one();
        } else {
            *items -= 1;
            self.not_full.notify_one();
        }
    }
}

impl Scene for Queue {
    fn new(parties: usize, draw: &mut Party) -> Self {
        let putters = parties / 2;
        Self {
            items: Mutex::new(0),
            room: 1 + draw.below(3),
            not_empty: Condvar::new(),
            not_full: Condvar::new(),
            putters,
            takers: parties - putters,
        }
    }

    fn thread(&self, me: &mut Party) {
        let (puts, share) = self.share(me.index);
        for _ in 0..share {
            let mut items = self.items.lock();
            while self.must_wait(puts, *items) {
                match me.below(4) {
                    0 => _ = self.waits_at(puts).wait_for(&mut items, me.short()),
                    1 => self.waits_at(puts).wait_until(&mut items, far()).unwrap(),
                    _ => self.waits_at(puts).wait(&mut items),
                }
            }
            self.change(puts, &mut items);
        }
        // Done, and in the way: the notify that it may get is for others.
        let mut items = self.items.lock();
        let waits = self.must_wait(puts, *items) && me.one_in(2);
        if waits && self.waits_at(puts).wait_for(&mut items, me.short()).is_ok() {
            self.waits_at(puts).notify_one();
        }
    }

    fn task<'a>(&'a self, me: &'a mut Party) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            let (puts, share) = self.share(me.index);
            for _ in 0..share {
                let mut items = self.items.lock_async().await;
                while self.must_wait(puts, *items) {
                    items = match me.below(4) {
                        0 => {
                            let wait = self.waits_at(puts).wait_async(items);
                            match me.drop_soon(wait).await {
                                Some(items) => items,
                                None => self.items.lock_async().await,
                            }
                        }
                        1 => {
                            drop(self.waits_at(puts).wait_async_for(items, me.short()).await);
                            self.items.lock_async().await
                        }
                        _ => self.waits_at(puts).wait_async(items).await,
                    };
                }
                self.change(puts, &mut items);
            }
            let items = self.items.lock_async().await;
            if self.must_wait(puts, *items) && me.one_in(2) {
                let wait = self.waits_at(puts).wait_async(items);
                if me.drop_unwoken(wait).await.is_some() {
                    self.waits_at(puts).notify_one();
                }
            }
        })
    }

    fn check(&self) {
        assert_eq!(*self.items.try_lock().expect("it is free"), 0);
    }
}

/// None goes on before all have come.
pub(crate) struct Meeting {
    come: Mutex<usize>,
    all_are_here: Condvar,
    parties: usize,
}

impl Scene for Meeting {
    fn new(parties: usize, _draw: &mut Party) -> Self {
        Self { come: Mutex::new(0), all_are_here: Condvar::new(), parties }
    }

    fn thread(&self, me: &mut Party) {
        me.linger();
        let mut come = self.come.lock();
        *come += 1;
        if *come == self.parties {
            self.all_are_here.notify_all();
        }
        while *come < self.parties {
            if me.one_in(4) {
                let _ = self.all_are_here.wait_for(&mut come, me.short());
            } else {
                self.all_are_here.wait(&mut come);
            }
        }
    }

    fn task<'a>(&'a self, me: &'a mut Party) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            me.linger_async().await;
            let mut come = self.come.lock_async().await;
            *come += 1;
            if *come == self.parties {
                self.all_are_here.notify_all();
            }
            while *come < self.parties {
                come = if me.one_in(4) {
                    let wait = self.all_are_here.wait_async(come);
                    match me.drop_soon(wait).await {
                        Some(come) => come,
                        None => self.come.lock_async().await,
                    }
                } else {
                    self.all_are_here.wait_async(come).await
                };
            }
        })
    }

    fn check(&self) {
        assert_eq!(*self.come.try_lock().expect("it is free"), self.parties);
    }
}
