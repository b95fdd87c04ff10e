//! The state of `waitword top`: the last report, and the user's choices.

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
    /// Why the last attempt to fetch a report failed.
    pub(super) error: Option<String>,
    pub(super) order: Order,
    pub(super) is_paused: bool,
    /// Only the chosen lock is shown, with its details.
    pub(super) is_detailed: bool,
    /// The first visible line of the details.
    pub(super) scroll: usize,
    chosen: Option<Address>,
    pub(super) is_over: bool,
    /// The whole screen is to be redrawn, whatever it is assumed to show.
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

    /// Takes a new report. If there is none, keeps the last one and the error.
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

    /// The position of the chosen lock in [`locks`](Self::locks). It is chosen by its address, so it stays chosen while others appear and
    /// disappear.
    pub(super) fn chosen(&self) -> Option<usize> {
        let locks = self.locks();
        let chosen = locks.iter().position(|lock| Some(lock.name.address) == self.chosen);
        chosen.or_else(|| (!locks.is_empty()).then_some(0))
    }
}

/// The longest wait, if the age of any wait is known.
pub(super) fn longest(lock: &Lock) -> Option<Duration> {
    lock.all_waiters().filter_map(|waiter| waiter.age).max()
}
