//! What holds for every lock: the laws, each for each row of the table (`common/rows.rs`), and there for every way to wait that the row
//! has: attempts, threads and tasks; without a deadline, with a timeout, with a deadline; borrowed and owned.
//!
//! | law | rows left out, and why |
//! |---|---|
//! | a wait gets at once what is there | a condition variable: it waits at least once |
//! | a wait waits until it is there | |
//! | it gives up when its time is up, and not before; it has what came before its last poll; it is not queued any more | initialisers and callbacks have no deadlines |
//! | it keeps no other out then | a barrier: the other party is missing |
//! | its timeout counts from the call | a condition variable: the table's wait locks the mutex at its first poll |
//! | it does not block where that is forbidden, and says to its caller what to use | callbacks: futures only |
//! | a snapshot shows it with its caller, and who waits for what | callbacks: as `lock_async`; moved waits: `locks/condvar` |
//! | an owned wait keeps its share until it has left the queue | a condition variable has two: `locks/condvar`; those without owned forms |
//! | a waker that panics ends no release, and its waiter has what it waited for; what a waker's destructor unwinds is given back, at the end, at the deadline, in the queue | an initialiser: `locks/once/turns.rs` |
//! | threads and tasks share one queue, FIFO; barging ends; a signal that is given up is forwarded | readers and many permits, which several hold: `locks/rwlock`, `locks/semaphore/turns.rs`; an event: `locks/event/notified.rs`; a notify of all has no order |
//! | no schedule of polls and drops loses a wakeup; nor does a thread behind it | each with a world of its own: `locks/{rwlock,condvar}/dropped.rs`, `locks/semaphore/permits.rs`, `locks/event/schedules.rs`, `locks/barrier.rs` |
//! | an unpolled future keeps no other from the lock, and comes back | many permits: `locks/semaphore/unpolled.rs`; a notify of one: `locks/condvar/unpolled.rs`; initialisers: `locks/once/turns.rs`; without a holder there is no signal |
//! | a wait allocates nothing: `no_allocation.rs` | |
//! | a future that is ready at once consumes budget: `coop.rs` | a condition variable: there, without the table's mutex |
//! | a timeout expires on tokio's paused clock: `paused_clock.rs` | initialisers and callbacks |
//!
//! Conservation is in the schedules, and in `soak`.

#[path = "../common/mod.rs"]
mod common;
mod destructors;
mod dropped;
mod exclusive;
#[path = "../common/rows.rs"]
mod rows;
mod unpolled;
mod waits;
