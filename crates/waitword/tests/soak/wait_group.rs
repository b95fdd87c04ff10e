//! A wait ends when all tokens have been dropped that were out when it began.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use waitword::WaitGroup;

use crate::player::{Player, blocking, polling};

pub(crate) struct OneWaitGroup {
    group: Arc<WaitGroup>,
    /// For each player, odd while it surely has a token.
    turns: Vec<AtomicU64>,
}

impl OneWaitGroup {
    pub(crate) fn new(players: usize) -> Self {
        Self { group: Arc::default(), turns: (0..players).map(|_| AtomicU64::new(0)).collect() }
    }

    pub(crate) fn step(&self, player: &mut Player) {
        let out = self.turns();
        match player.below(4) {
            0 => {
                let _token = self.group.add();
                self.turn(player);
                player.linger();
                self.turn(player);
            }
            1 => self.waited(&out, self.group.try_wait()),
            _ => {
                let waited = blocking! { player:
                    Ok(self.group.wait()),
                    timeout => self.group.wait_for(timeout),
                    deadline => self.group.wait_until(deadline)
                };
                self.waited(&out, waited.is_ok());
            }
        }
    }

    pub(crate) async fn step_async(&self, player: &mut Player) {
        let out = self.turns();
        if player.one_in(3) {
            let _token = self.group.add_owned();
            self.turn(player);
            player.linger_async().await;
            return self.turn(player);
        }
        let waited = if player.one_in(2) {
            polling! { player:
                Ok(self.group.wait_async().await),
                timeout => self.group.wait_async_for(timeout),
                deadline => self.group.wait_async_until(deadline)
            }
        } else {
            polling! { player:
                Ok(self.group.wait_owned_async().await),
                timeout => self.group.wait_owned_async_for(timeout),
                deadline => self.group.wait_owned_async_until(deadline)
            }
        };
        self.waited(&out, matches!(waited, Some(Ok(()))));
    }

    fn turn(&self, player: &Player) {
        self.turns[player.index].fetch_add(1, Ordering::SeqCst);
    }

    fn turns(&self) -> Vec<u64> {
        self.turns.iter().map(|turn| turn.load(Ordering::SeqCst)).collect()
    }

    fn waited(&self, out: &[u64], waited: bool) {
        let still = |(before, now): (&u64, u64)| before % 2 == 1 && *before == now;
        assert!(!waited || !out.iter().zip(self.turns()).any(still), "a token is still out");
    }

    pub(crate) fn check(&self) {
        assert_eq!(self.group.count(), 0);
    }

    pub(crate) fn queued(&self) -> usize {
        self.group.waiters()
    }
}
