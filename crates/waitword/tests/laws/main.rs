//! What holds for every lock: the laws, each for each row of the table (`common/rows.rs`), and there for every way to wait.
//!
//! | law | rows left out, and why |
//! |---|---|
//! | a wait gets at once what is there, of threads and tasks | a condition variable: it waits at least once |
//! | a wait waits until it is there | |
//! | it gives up when its time is up, and not before; it has what came before its last poll; it is not queued any more | an initialiser and a callback have no deadlines |
//! | it keeps no other out then | a barrier: the other party is missing |
//! | its timeout counts from the call | a condition variable: the table's wait locks the mutex at its first poll |
//! | it does not block where that is forbidden, and says what to use | |
//! | a snapshot shows it with its caller, and who waits for what | |
//! | an owned wait keeps its share until it has left the queue | a condition variable: `locks/condvar`, as there are two shares; those without owned forms |
//! | a waker that panics ends no release, and its waiter has what it waited for; what a waker's destructor unwinds is given back | an initialiser: its turn ends in a destructor of its own (`locks/once/turns.rs`) |
//! | threads and tasks share one queue, FIFO; barging ends; a signal that is given up is forwarded | those that several hold, or none: `locks/rwlock`, `locks/semaphore/turns.rs`, `locks/event/notified.rs` |
//! | no schedule of polls and drops loses a wakeup; nor does a thread behind it | each has a world of its own: `locks/{rwlock,condvar}/dropped.rs`, `locks/semaphore/permits.rs`, `locks/event/schedules.rs`, `locks/barrier.rs` |
//! | an unpolled future keeps no other from the lock | without a holder there is no signal; initialisers: `locks/once/turns.rs` |
//!
//! `no_allocation.rs`, `coop.rs` and `paused_clock.rs` have one law each, for all rows. Conservation is in the schedules, and in `soak`.

#[path = "../common/mod.rs"]
mod common;
mod destructors;
mod dropped;
mod exclusive;
#[path = "../common/rows.rs"]
mod rows;
mod unpolled;
mod waits;
