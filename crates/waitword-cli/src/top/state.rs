//! What `waitword top` shows: the last report, and what its user has chosen.

use std::cmp::Reverse;
use std::time::Duration;

use termion::event::Key;
use waitword_observe::{Address, Lock, Report};

/// The order of the locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Waiters,
    Longest,
    Name,
}

pub(super) struct State {
    pub(super) report: Report,
    /// Why there was no newer report the last time.
    pub(super) error: Option<String>,
    pub(super) order: Order,
    pub(super) is_paused: bool,
    /// The chosen lock is shown alone.
    pub(super) is_detailed: bool,
    /// The first line of the details that is shown.
    pub(super) scroll: usize,
    chosen: Option<Address>,
    pub(super) is_over: bool,
    /// The screen is to be drawn anew, whatever is thought to be on it.
    pub(super) wants_redraw: bool,
}

impl State {
    pub(super) fn new(report: Report) -> Self {
        Self {
            report,
            error: None,
            order: Order::Waiters,
            is_paused: false,
            is_detailed: false,
            scroll: 0,
            chosen: None,
            is_over: false,
            wants_redraw: false,
        }
    }

    /// A new report, or why there is none: then the last one stays.
    pub(super) fn update(&mut self, report: Result<Report, String>) {
        if self.is_paused {
            return;
        }
        match report {
            Ok(report) => (self.report, self.error) = (report, None),
            Err(error) => self.error = Some(error),
        }
    }

    pub(super) fn press(&mut self, key: Key) {
        match key {
            Key::Ctrl('l') => self.wants_redraw = true,
            Key::Esc if self.is_detailed => self.is_detailed = false,
            Key::Esc | Key::Char('q') | Key::Ctrl('c') => self.is_over = true,
            Key::Char('p' | ' ') => self.is_paused = !self.is_paused,
            Key::Char('s') => {
                self.order = match self.order {
                    Order::Waiters => Order::Longest,
                    Order::Longest => Order::Name,
                    Order::Name => Order::Waiters,
                };
            }
            Key::Char('\n') => {
                self.is_detailed = !self.is_detailed && self.chosen().is_some();
                self.scroll = 0;
            }
            Key::Down | Key::Char('j') => self.go(1),
            Key::Up | Key::Char('k') => self.go(-1),
            _ => {}
        }
    }

    fn go(&mut self, by: isize) {
        if self.is_detailed {
            self.scroll = self.scroll.saturating_add_signed(by);
            return;
        }
        let next = self.chosen().unwrap_or(0).saturating_add_signed(by);
        let locks = self.locks();
        self.chosen = locks.get(next.min(locks.len().saturating_sub(1))).map(|lock| lock.name.address);
    }

    /// The locks in the chosen order.
    pub(super) fn locks(&self) -> Vec<&Lock> {
        let mut locks: Vec<&Lock> = self.report.snapshot.locks.iter().collect();
        match self.order {
            Order::Waiters => locks.sort_by_key(|lock| Reverse((lock.waiting(), longest(lock)))),
            Order::Longest => locks.sort_by_key(|lock| Reverse((longest(lock), lock.waiting()))),
            Order::Name => locks.sort_by_cached_key(|lock| (lock.name.to_string(), lock.name.address)),
        }
        locks
    }

    /// The place of the chosen lock among [`locks`](Self::locks): it is chosen by its address, so it stays chosen where others come and go.
    pub(super) fn chosen(&self) -> Option<usize> {
        let locks = self.locks();
        let chosen = locks.iter().position(|lock| Some(lock.name.address) == self.chosen);
        chosen.or_else(|| (!locks.is_empty()).then_some(0))
    }
}

/// The longest wait, if any has an age.
pub(super) fn longest(lock: &Lock) -> Option<Duration> {
    lock.all_waiters().filter_map(|waiter| waiter.age).max()
}
