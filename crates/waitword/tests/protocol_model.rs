//! The protocol of `async_lock/` as a model, and every state that it can get into.
//!
//! The tests of the real lock run the interleavings that happen to come up. Here each access to the word and to the
//! queue is a step of its own, and all orders of all steps are searched, for threads and tasks that recheck, give up, are
//! dropped or are never polled. What must hold:
//! - never do two hold the lock;
//! - no state comes again;
//! - where no step is left, all are done, except tasks that are not polled.
//!
//! A model that finds nothing proves little, so each rule of the protocol is also broken once, and the search must see
//! it.

use std::collections::HashMap;

use Place::*;
use Role::*;

const FREE: u8 = 0;
const LOCKED: u8 = 1;
const CONTENDED: u8 = 2;

/// What an actor may do besides waiting for the lock, taking it and releasing it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Role {
    /// Has the lock at the beginning.
    Holder,
    /// Tries once.
    Barger,
    Waiter,
    /// May be dropped whenever it is queued.
    Droppable,
    /// May run out of time whenever it is queued.
    Timed,
    /// Is not polled any more once it is queued.
    Unpolled,
}

/// The step that an actor takes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    Take,
    TakeOrMark,
    /// Check and enqueue, which the shard's lock makes one step.
    Enter,
    Queued,
    RecheckSucceeded,
    TimeIsUp,
    LastAttempt,
    LeaveAfterLastAttempt,
    Forward,
    Holding,
    NotifyThenFree,
    Notify,
    Gone,
}

/// When the waiters recheck on their own.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rechecks {
    Never,
    /// When nothing else happens any more, and as often, all in all, as there are tasks that are not polled.
    LastResort,
    Anytime,
}

/// A rule of the protocol, to be broken.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Broken {
    Nothing,
    /// A waiter takes the lock as `LOCKED`.
    TakeWithoutMark,
    /// A waiter enqueues without rechecking the word.
    EnterWithoutCheck,
    /// A waiter that is dropped after its notify does not forward it.
    NoForward,
    /// … forwards it only if the lock is free.
    ForwardOnlyIfFree,
    /// A waiter whose time is up makes its last attempt while it is queued.
    LeaveAfterLastAttempt,
    /// A recheck that succeeds does not leave the queue.
    RecheckStaysQueued,
    /// A release notifies first, and frees then.
    NotifyBeforeFree,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    word: u8,
    queue: Vec<usize>,
    places: Vec<Place>,
    /// The actors that were notified and have not seen it yet.
    notified: Vec<bool>,
    /// Under [`Rechecks::LastResort`].
    rechecks_left: usize,
}

struct Model {
    roles: Vec<Role>,
    rechecks: Rechecks,
    broken: Broken,
}

impl Model {
    fn start(&self) -> World {
        let places = self.roles.iter().map(|&role| if role == Holder { Holding } else { Take }).collect();
        let rechecks_left = self.roles.iter().filter(|&&role| role == Unpolled).count();
        World {
            word: LOCKED,
            queue: Vec::new(),
            places,
            notified: vec![false; self.roles.len()],
            rechecks_left,
        }
    }

    /// What `actor` can do next. The first element, if there is one, is what it does if nothing interferes; the second
    /// need not happen.
    fn steps(&self, world: &World, actor: usize) -> (Option<World>, Option<World>) {
        let role = self.roles[actor];
        let mut next = world.clone();
        next.places[actor] = match world.places[actor] {
            Take => match next.replace(FREE, LOCKED) {
                FREE => Holding,
                _ if role == Barger => Gone,
                _ => TakeOrMark,
            },
            TakeOrMark if self.take_or_mark(&mut next) => Holding,
            TakeOrMark => Enter,
            Enter if next.word == CONTENDED || self.broken == Broken::EnterWithoutCheck => {
                next.queue.push(actor);
                Queued
            }
            Enter => TakeOrMark,
            Queued if role == Unpolled => return (None, None),
            Queued => {
                let interference = self.interference(world, actor);
                if !world.notified[actor] {
                    let rechecks = self.rechecks == Rechecks::Anytime;
                    return (rechecks.then(|| self.recheck(world, actor)).flatten(), interference);
                }
                next.notified[actor] = false;
                next.places[actor] = TakeOrMark;
                return (Some(next), interference);
            }
            RecheckSucceeded => {
                if self.broken != Broken::RecheckStaysQueued {
                    next.leave(actor);
                }
                Holding
            }
            TimeIsUp => {
                if self.broken != Broken::LeaveAfterLastAttempt {
                    next.leave(actor);
                }
                LastAttempt
            }
            LastAttempt if self.take_or_mark(&mut next) => RecheckSucceeded,
            LastAttempt => LeaveAfterLastAttempt,
            LeaveAfterLastAttempt => {
                next.leave(actor);
                Gone
            }
            Forward => {
                let found = match self.broken {
                    Broken::ForwardOnlyIfFree => next.word,
                    _ => next.replace(LOCKED, CONTENDED),
                };
                if found == FREE { Notify } else { Gone }
            }
            Holding if self.broken == Broken::NotifyBeforeFree && world.word == CONTENDED => {
                next.notify();
                NotifyThenFree
            }
            Holding | NotifyThenFree => {
                let found = std::mem::replace(&mut next.word, FREE);
                assert_ne!(found, FREE, "a lock that is held is free");
                let notifies = found == CONTENDED && self.broken != Broken::NotifyBeforeFree;
                if notifies { Notify } else { Gone }
            }
            Notify => {
                next.notify();
                Gone
            }
            Gone => return (None, None),
        };
        (Some(next), None)
    }

    /// Queued, not notified: rechecks, if that changes anything.
    fn recheck(&self, world: &World, actor: usize) -> Option<World> {
        let waits = world.places[actor] == Queued && self.roles[actor] != Unpolled && !world.notified[actor];
        if !waits || world.word == CONTENDED {
            return None;
        }
        let mut next = world.clone();
        next.places[actor] = if self.take_or_mark(&mut next) { RecheckSucceeded } else { Queued };
        Some(next)
    }

    /// Queued: dropped, or out of time.
    fn interference(&self, world: &World, actor: usize) -> Option<World> {
        let mut next = world.clone();
        next.places[actor] = match self.roles[actor] {
            Timed => TimeIsUp,
            Droppable => {
                let was_notified = next.leave(actor);
                if was_notified && self.broken != Broken::NoForward { Forward } else { Gone }
            }
            _ => return None,
        };
        Some(next)
    }

    fn take_or_mark(&self, world: &mut World) -> bool {
        if self.broken == Broken::TakeWithoutMark && world.word == FREE {
            world.word = LOCKED;
            return true;
        }
        std::mem::replace(&mut world.word, CONTENDED) == FREE
    }

    /// Searches everything. The error says what is wrong, and by which states it came to it.
    fn check(&self) -> Result<usize, String> {
        let mut search = Search { model: self, path: Vec::new(), seen: HashMap::new() };
        match search.visit(self.start()) {
            Ok(()) => Ok(search.seen.len()),
            Err(wrong) => Err(format!("{wrong}, {:?}: {:#?}", self.roles, search.path)),
        }
    }
}

impl World {
    fn replace(&mut self, expected: u8, new: u8) -> u8 {
        let found = self.word;
        if found == expected {
            self.word = new;
        }
        found
    }

    fn notify(&mut self) {
        if !self.queue.is_empty() {
            let first = self.queue.remove(0);
            self.notified[first] = true;
        }
    }

    /// Out of the queue. Returns whether it was notified.
    fn leave(&mut self, actor: usize) -> bool {
        self.queue.retain(|&waiter| waiter != actor);
        std::mem::take(&mut self.notified[actor])
    }
}

struct Search<'a> {
    model: &'a Model,
    path: Vec<World>,
    /// Whether all that follows from a state has been searched; if not, it is on the path.
    seen: HashMap<World, bool>,
}

impl Search<'_> {
    fn visit(&mut self, world: World) -> Result<(), &'static str> {
        match self.seen.get(&world) {
            Some(true) => return Ok(()),
            Some(false) => return Err("a state came again"),
            None => {}
        }
        self.seen.insert(world.clone(), false);
        self.path.push(world.clone());
        let holds = |place: &&Place| matches!(place, Holding | NotifyThenFree | RecheckSucceeded);
        if world.places.iter().filter(holds).count() > 1 {
            return Err("two hold the lock");
        }
        let mut stuck = true;
        for actor in 0..world.places.len() {
            let (next, interference) = self.model.steps(&world, actor);
            stuck &= next.is_none();
            for next in next.into_iter().chain(interference) {
                self.visit(next)?;
            }
        }
        if stuck && self.model.rechecks == Rechecks::LastResort && world.rechecks_left > 0 {
            for actor in 0..world.places.len() {
                if let Some(mut next) = self.model.recheck(&world, actor) {
                    stuck = false;
                    next.rechecks_left -= 1;
                    self.visit(next)?;
                }
            }
        }
        let waits = |(place, role): (&Place, &Role)| *place != Gone && *role != Unpolled;
        if stuck && world.places.iter().zip(&self.model.roles).any(waits) {
            return Err("never notified");
        }
        self.path.pop();
        self.seen.insert(world, true);
        Ok(())
    }
}

/// All multisets of `count` of the roles.
fn casts(roles: &[Role], count: usize) -> Vec<Vec<Role>> {
    match (roles, count) {
        (_, 0) => vec![Vec::new()],
        ([], _) => Vec::new(),
        ([first, others @ ..], _) => {
            let with = casts(roles, count - 1).into_iter().map(|cast| [vec![*first], cast].concat());
            with.chain(casts(others, count)).collect()
        }
    }
}

/// For the first actors with any three of the `roles`.
fn nothing_is_wrong(first: &[Role], roles: &[Role], rechecks: Rechecks) {
    let states = casts(roles, 3).into_iter().map(|cast| {
        let roles = [first, &cast].concat();
        Model { roles, rechecks, broken: Broken::Nothing }.check().unwrap()
    });
    println!("{} states", states.sum::<usize>());
}

/// A notified waiter that leaves forwards its notify. Rechecks would hide it if not; so there are none here.
#[test]
fn no_recheck_is_needed_where_all_are_polled() {
    nothing_is_wrong(&[Holder], &[Barger, Waiter, Droppable, Timed], Rechecks::Never);
}

#[test]
fn one_recheck_makes_up_for_one_unpolled_task() {
    let roles = [Barger, Waiter, Droppable, Timed, Unpolled];
    nothing_is_wrong(&[Holder, Unpolled], &roles, Rechecks::LastResort);
}

#[test]
fn rechecks_do_no_harm_at_any_time() {
    nothing_is_wrong(&[Holder], &[Barger, Waiter, Droppable, Timed, Unpolled], Rechecks::Anytime);
}

#[test]
fn without_rechecks_one_unpolled_task_stops_all() {
    let roles = vec![Holder, Unpolled, Waiter];
    let model = Model { roles, rechecks: Rechecks::Never, broken: Broken::Nothing };
    assert!(model.check().unwrap_err().starts_with("never notified"));
}

#[test]
fn every_broken_rule_is_seen() {
    use Rechecks::{LastResort, Never};
    let broken = [
        (Broken::TakeWithoutMark, vec![Holder, Waiter, Waiter], Never),
        (Broken::EnterWithoutCheck, vec![Holder, Waiter], Never),
        (Broken::NoForward, vec![Holder, Droppable, Waiter], Never),
        (Broken::ForwardOnlyIfFree, vec![Holder, Droppable, Waiter, Barger], Never),
        (Broken::LeaveAfterLastAttempt, vec![Holder, Timed, Waiter, Barger], Never),
        (Broken::RecheckStaysQueued, vec![Holder, Unpolled, Waiter, Waiter], LastResort),
        (Broken::NotifyBeforeFree, vec![Holder, Waiter], Never),
    ];
    for (broken, roles, rechecks) in broken {
        Model { roles: roles.clone(), rechecks, broken: Broken::Nothing }.check().unwrap();
        let wrong = Model { roles, rechecks, broken }.check().expect_err(&format!("{broken:?} is not seen"));
        assert!(wrong.starts_with("never notified"), "{broken:?}: {wrong}");
    }
}
