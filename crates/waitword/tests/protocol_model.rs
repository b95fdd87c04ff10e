//! The protocol of `async_lock/raw.rs` and `acquire` as a model, and every state that it can get into.
//!
//! The tests of the real lock run the interleavings that happen to come up. Here each access to the word and to the
//! queue is a step of its own, and all orders of all steps are searched, for threads and tasks that look, give up, are
//! dropped or are never polled. What must hold:
//! - never do two hold the lock;
//! - nothing goes round in circles;
//! - where no step is left, everybody is done, except tasks that are not polled.
//!
//! A model that finds nothing proves little, so each rule of the protocol is also broken once, and the search must see
//! it.

use std::collections::HashMap;

use Place::*;
use Role::*;

const FREE: u8 = 0;
const LOCKED: u8 = 1;
const CONTENDED: u8 = 2;

/// What somebody may do besides waiting for the lock, taking it and releasing it.
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

/// Before which step somebody is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    Take,
    TakeOrMark,
    /// Check and enqueue, which the shard's lock makes one step.
    Enter,
    InLine,
    LookSucceeded,
    TimeIsUp,
    LastAttempt,
    LeaveAfterLastAttempt,
    PassOn,
    Holding,
    NotifyThenFree,
    Notify,
    Gone,
}

/// When the waiters look for themselves.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Patience {
    /// Never.
    Endless,
    /// When nothing else happens any more, and as often, all in all, as there are tasks that are not polled.
    LastResort,
    /// At any time.
    None,
}

/// A rule of the protocol, to be broken.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Broken {
    Nothing,
    /// Who has waited takes the lock as `LOCKED`.
    TakeWithoutMark,
    /// Enqueues without another look at the word.
    EnterWithoutCheck,
    /// Who is dropped after it was called tells nobody.
    NoPassOn,
    /// … tells somebody only if the lock is free.
    PassOnOnlyIfFree,
    /// The last attempt of one whose time is up is made while queued.
    LeaveAfterLastAttempt,
    /// A look that succeeds does not leave the line.
    LookStaysInLine,
    /// A release calls first, and frees then.
    NotifyBeforeFree,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    word: u8,
    queue: Vec<usize>,
    places: Vec<Place>,
    /// Who was called and has not seen it yet.
    called: Vec<bool>,
    /// Under [`Patience::LastResort`].
    looks_left: usize,
}

struct Model {
    roles: Vec<Role>,
    patience: Patience,
    broken: Broken,
}

impl Model {
    fn start(&self) -> World {
        let places = self.roles.iter().map(|&role| if role == Holder { Holding } else { Take }).collect();
        let looks_left = self.roles.iter().filter(|&&role| role == Unpolled).count();
        World { word: LOCKED, queue: Vec::new(), places, called: vec![false; self.roles.len()], looks_left }
    }

    /// What `actor` can do next. The first element, if there is one, is what it does if nothing interferes; the others
    /// need not happen.
    fn steps(&self, world: &World, actor: usize) -> (Option<World>, Vec<World>) {
        let role = self.roles[actor];
        let mut next = world.clone();
        let mut interference = Vec::new();
        let goes_on = match world.places[actor] {
            Take => {
                next.places[actor] = match next.replace(FREE, LOCKED) {
                    FREE => Holding,
                    _ if role == Barger => Gone,
                    _ => TakeOrMark,
                };
                true
            }
            TakeOrMark => {
                next.places[actor] = if self.take_or_mark(&mut next) { Holding } else { Enter };
                true
            }
            Enter => {
                if next.word == CONTENDED || self.broken == Broken::EnterWithoutCheck {
                    next.queue.push(actor);
                    next.places[actor] = InLine;
                } else {
                    next.places[actor] = TakeOrMark;
                }
                true
            }
            InLine if role == Unpolled => false,
            InLine => {
                interference.extend(self.interference(world, actor));
                if world.called[actor] {
                    next.called[actor] = false;
                    next.places[actor] = TakeOrMark;
                    true
                } else if self.patience == Patience::None
                    && let Some(looked) = self.look(world, actor)
                {
                    next = looked;
                    true
                } else {
                    false
                }
            }
            LookSucceeded => {
                if self.broken != Broken::LookStaysInLine {
                    next.leave(actor);
                }
                next.places[actor] = Holding;
                true
            }
            TimeIsUp => {
                if self.broken != Broken::LeaveAfterLastAttempt {
                    next.leave(actor);
                }
                next.places[actor] = LastAttempt;
                true
            }
            LastAttempt => {
                next.places[actor] =
                    if self.take_or_mark(&mut next) { LookSucceeded } else { LeaveAfterLastAttempt };
                true
            }
            LeaveAfterLastAttempt => {
                next.leave(actor);
                next.places[actor] = Gone;
                true
            }
            PassOn => {
                let found = match self.broken {
                    Broken::PassOnOnlyIfFree => next.word,
                    _ => next.replace(LOCKED, CONTENDED),
                };
                next.places[actor] = if found == FREE { Notify } else { Gone };
                true
            }
            Holding if self.broken == Broken::NotifyBeforeFree && world.word == CONTENDED => {
                next.notify();
                next.places[actor] = NotifyThenFree;
                true
            }
            Holding | NotifyThenFree => {
                let found = std::mem::replace(&mut next.word, FREE);
                assert_ne!(found, FREE, "a lock that is held is free");
                let calls = found == CONTENDED && self.broken != Broken::NotifyBeforeFree;
                next.places[actor] = if calls { Notify } else { Gone };
                true
            }
            Notify => {
                next.notify();
                next.places[actor] = Gone;
                true
            }
            Gone => false,
        };
        (goes_on.then_some(next), interference)
    }

    /// Queued, not signalled: looks, if that changes anything.
    fn look(&self, world: &World, actor: usize) -> Option<World> {
        let waits = world.places[actor] == InLine && self.roles[actor] != Unpolled && !world.called[actor];
        if !waits || world.word == CONTENDED {
            return None;
        }
        let mut next = world.clone();
        next.places[actor] = if self.take_or_mark(&mut next) { LookSucceeded } else { InLine };
        Some(next)
    }

    /// Queued: dropped, or out of time.
    fn interference(&self, world: &World, actor: usize) -> Option<World> {
        let mut next = world.clone();
        next.places[actor] = match self.roles[actor] {
            Timed => TimeIsUp,
            Droppable => {
                let was_called = next.leave(actor);
                if was_called && self.broken != Broken::NoPassOn { PassOn } else { Gone }
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
            self.called[first] = true;
        }
    }

    /// Out of the queue; says whether it was called.
    fn leave(&mut self, actor: usize) -> bool {
        self.queue.retain(|&waiter| waiter != actor);
        std::mem::take(&mut self.called[actor])
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
            Some(false) => return Err("in circles"),
            None => {}
        }
        self.seen.insert(world.clone(), false);
        self.path.push(world.clone());
        let holds = |place: &&Place| matches!(place, Holding | NotifyThenFree | LookSucceeded);
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
        if stuck && self.model.patience == Patience::LastResort && world.looks_left > 0 {
            for actor in 0..world.places.len() {
                if let Some(mut next) = self.model.look(&world, actor) {
                    stuck = false;
                    next.looks_left -= 1;
                    self.visit(next)?;
                }
            }
        }
        let waits = |(place, role): (&Place, &Role)| *place != Gone && *role != Unpolled;
        if stuck && world.places.iter().zip(&self.model.roles).any(waits) {
            return Err("never called");
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

/// Whoever is called and goes away passes it on. Looks would hide it if not; so here nobody looks.
#[test]
fn nobody_has_to_look_where_everybody_is_polled() {
    let mut states = 0;
    for cast in casts(&[Barger, Waiter, Droppable, Timed], 3) {
        let roles = [vec![Holder], cast].concat();
        states += Model { roles, patience: Patience::Endless, broken: Broken::Nothing }.check().unwrap();
    }
    println!("{states} states");
}

#[test]
fn one_look_makes_up_for_one_task_that_is_not_polled() {
    let mut states = 0;
    for cast in casts(&[Barger, Waiter, Droppable, Timed, Unpolled], 3) {
        let roles = [vec![Holder, Unpolled], cast].concat();
        states += Model { roles, patience: Patience::LastResort, broken: Broken::Nothing }.check().unwrap();
    }
    println!("{states} states");
}

#[test]
fn looks_harm_nobody_at_any_time() {
    let mut states = 0;
    for cast in casts(&[Barger, Waiter, Droppable, Timed, Unpolled], 3) {
        let roles = [vec![Holder], cast].concat();
        states += Model { roles, patience: Patience::None, broken: Broken::Nothing }.check().unwrap();
    }
    println!("{states} states");
}

#[test]
fn with_endless_patience_one_unpolled_task_stops_everybody() {
    let roles = vec![Holder, Unpolled, Waiter];
    let model = Model { roles, patience: Patience::Endless, broken: Broken::Nothing };
    assert!(model.check().unwrap_err().starts_with("never called"));
}

#[test]
fn every_broken_rule_is_seen() {
    use Patience::{Endless, LastResort};
    let broken = [
        (Broken::TakeWithoutMark, vec![Holder, Waiter, Waiter], Endless),
        (Broken::EnterWithoutCheck, vec![Holder, Waiter], Endless),
        (Broken::NoPassOn, vec![Holder, Droppable, Waiter], Endless),
        (Broken::PassOnOnlyIfFree, vec![Holder, Droppable, Waiter, Barger], Endless),
        (Broken::LeaveAfterLastAttempt, vec![Holder, Timed, Waiter, Barger], Endless),
        (Broken::LookStaysInLine, vec![Holder, Unpolled, Waiter, Waiter], LastResort),
        (Broken::NotifyBeforeFree, vec![Holder, Waiter], Endless),
    ];
    for (broken, roles, patience) in broken {
        Model { roles: roles.clone(), patience, broken: Broken::Nothing }.check().unwrap();
        let wrong = Model { roles, patience, broken }.check().expect_err(&format!("{broken:?} is not seen"));
        assert!(wrong.starts_with("never called"), "{broken:?}: {wrong}");
    }
}
