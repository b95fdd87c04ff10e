//! What the standard library does not offer: CPU clocks, pinning, the memory of a process, and a clock for short times.
//!
//! | system | CPU time of a thread, of the process | pinning to a CPU | memory of another process |
//! |--------|--------------------------------------|------------------|---------------------------|
//! | Linux  | `clock_gettime`                      | yes              | `/proc`                   |
//! | others | wall time instead                    | no               | not known                 |

mod ticks;

#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod imp;

#[cfg(not(target_os = "linux"))]
#[path = "other.rs"]
mod imp;

pub(crate) use self::ticks::{nanos_of, ticks};
pub(crate) use imp::{cpu_model, pin_to, process_cpu, resident, thread_cpu};
#[cfg(target_os = "linux")]
pub(crate) use imp::{futex_wait, futex_wait_for, futex_wake, futex_wake_all};
