//! The limit: an intrusive list of wakers under one lock, and nothing else. It can do less than any contender: it does
//! not compare, count, find a word or survive a panic.

use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::{PerWord, Queue};

pub(crate) type BareList = PerWord<List>;

/// The ends of the list.
pub(crate) struct List(Mutex<Ends>);

#[derive(Default)]
struct Ends {
    first: Option<NonNull<Node>>,
    last: Option<NonNull<Node>>,
}

// SAFETY: the nodes are reached only under the lock around this.
unsafe impl Send for Ends {}

/// In the list from its first poll until it is notified or dropped. All of it belongs to the list's lock.
struct Node {
    state: State,
    previous: Option<NonNull<Node>>,
    next: Option<NonNull<Node>>,
    waker: Option<Waker>,
}

#[derive(PartialEq, Eq)]
enum State {
    New,
    Linked,
    Notified,
}

impl List {
    fn ends(&self) -> MutexGuard<'_, Ends> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue for List {
    const NAME: &'static str = "bare list (limit)";

    type Wait<'a> = Wait<'a>;

    fn new() -> Self {
        Self(Mutex::default())
    }

    fn wait(&self) -> Wait<'_> {
        let node = Node { state: State::New, previous: None, next: None, waker: None };
        Wait { list: self, node, _pinned: PhantomPinned }
    }

    fn notify_one(&self) {
        let waker = self.ends().pop();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn notify_all(&self) {
        loop {
            let Some(waker) = self.ends().pop() else { break };
            waker.wake();
        }
    }
}

impl Ends {
    fn push(&mut self, mut node: NonNull<Node>) {
        // SAFETY: the list's lock is held, and what is in the list is alive: it leaves when dropped.
        unsafe {
            node.as_mut().previous = self.last;
            match self.last {
                Some(mut last) => last.as_mut().next = Some(node),
                None => self.first = Some(node),
            }
        }
        self.last = Some(node);
    }

    fn remove(&mut self, node: NonNull<Node>) {
        // SAFETY: as in `push`.
        unsafe {
            let (previous, next) = (node.as_ref().previous, node.as_ref().next);
            match previous {
                Some(mut previous) => previous.as_mut().next = next,
                None => self.first = next,
            }
            match next {
                Some(mut next) => next.as_mut().previous = previous,
                None => self.last = previous,
            }
        }
    }

    fn pop(&mut self) -> Option<Waker> {
        let mut first = self.first?;
        self.remove(first);
        // SAFETY: as in `push`.
        unsafe {
            first.as_mut().state = State::Notified;
            first.as_mut().waker.take()
        }
    }
}

pub(crate) struct Wait<'a> {
    list: &'a List,
    node: Node,
    _pinned: PhantomPinned,
}

// SAFETY: the node is reached only under the list's lock.
unsafe impl Send for Wait<'_> {}

impl Future for Wait<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: nothing is moved.
        let this = unsafe { self.get_unchecked_mut() };
        let waker = cx.waker().clone();
        let mut ends = this.list.ends();
        match this.node.state {
            State::Notified => return Poll::Ready(()),
            State::Linked => {}
            State::New => {
                this.node.state = State::Linked;
                ends.push(NonNull::from(&mut this.node));
            }
        }
        this.node.waker = Some(waker);
        Poll::Pending
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let mut ends = self.list.ends();
        if self.node.state == State::Linked {
            ends.remove(NonNull::from(&mut self.node));
        }
    }
}
