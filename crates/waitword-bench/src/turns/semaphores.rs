//! Two semaphores, one for each turn: who sets a turn adds the permit that the party of that turn acquires.

use std::mem;

use super::Turns;
use crate::locks::BlockingSemaphore;

pub(crate) struct BySemaphores<S>([S; 2]);

impl<S: BlockingSemaphore> Turns for BySemaphores<S> {
    const NAME: &'static str = S::NAME;

    fn new() -> Self {
        Self([S::new(0), S::new(0)])
    }

    fn wait_while(&self, turn: u32) {
        mem::forget(self.0[1 - turn as usize].acquire());
    }

    fn set(&self, turn: u32) {
        self.0[turn as usize].add_one();
    }
}
