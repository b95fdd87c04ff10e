//! What was seen, as plain, owned data: it can be made by hand, compared, written as JSON and read back.

mod actor;
mod deed;
mod durations;
mod holder;
mod lock;
mod site;
mod snapshot;
mod waiter;

pub use actor::Actor;
pub use deed::{Deed, Ended};
pub(crate) use durations::{nanos, optional_nanos};
pub use holder::{Holder, LastPoll, Recording};
pub(crate) use lock::is_notified;
pub use lock::{Address, BlockPlace, Lock, LockKind, LockName};
pub use site::Site;
pub use snapshot::Snapshot;
pub use waiter::{Access, State, Waiter};
