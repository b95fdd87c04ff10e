//! `WaitGroup`: the first half of the parties hold tokens, the others wait until all are dropped.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use waitword::{OwnedWaitGroupToken, WaitGroup};

use crate::Scene;
use crate::common::far;
use crate::party::Party;

pub(crate) struct OneWaitGroup {
    group: Arc<WaitGroup>,
    tokens: Mutex<Vec<OwnedWaitGroupToken>>,
    holders: usize,
}

impl OneWaitGroup {
    fn token(&self) -> OwnedWaitGroupToken {
        self.tokens.lock().unwrap().pop().expect("one for each")
    }
}

impl Scene for OneWaitGroup {
    fn new(parties: usize, _draw: &mut Party) -> Self {
        let (group, holders) = (Arc::new(WaitGroup::new()), parties.div_ceil(2));
        let tokens = (0..holders).map(|_| group.add_owned()).collect();
        Self { group, tokens: Mutex::new(tokens), holders }
    }

    fn thread(&self, me: &mut Party) {
        if me.index < self.holders {
            let _token = self.token();
            return me.linger();
        }
        match me.below(4) {
            0 => _ = self.group.wait_for(me.short()),
            1 => self.group.wait_until(far()).unwrap(),
            _ => self.group.wait(),
        }
    }

    fn task<'a>(&'a self, me: &'a mut Party) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            if me.index < self.holders {
                let _token = self.token();
                return me.linger_async().await;
            }
            match me.below(4) {
                0 => _ = me.drop_soon(self.group.wait_async()).await,
                1 => self.group.wait_async_until(far()).await.unwrap(),
                _ => self.group.wait_async().await,
            }
        })
    }

    fn check(&self) {
        assert_eq!((self.group.count(), self.group.waiters()), (0, 0));
    }
}
