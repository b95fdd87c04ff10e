//! The error of `install` and `install_async`.

use std::error::Error;
use std::fmt;

use crate::ffi::JsError;

/// The error of [`install`](crate::install) and [`install_async`](crate::install_async).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstallError {
    /// Already installed in this context, or in another context of the runtime.
    Installed,
    /// The context belongs to another runtime than the agent.
    OtherRuntime,
    /// The context lacks this built-in.
    Missing(&'static str),
    /// The program itself uses something that is needed here: the runtime's functions for shared memory
    /// (`JS_SetSharedArrayBufferFunctions`), the context's opaque pointer (`JS_SetContextOpaque`), or, further up the stack, the
    /// runtime's userdata.
    InUse(&'static str),
    /// The engine refused to replace a function, because a script has frozen the object that contains it, or because the memory limit
    /// is reached. Some functions may have been replaced.
    Failed(JsError),
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Installed => {
                "already installed in this runtime: use that agent, and its add_realm for other contexts"
            }
            Self::OtherRuntime => {
                "the context belongs to another runtime: install there to get an agent for it"
            }
            Self::Missing(name) => {
                return write!(f, "the context has no {name}: create it with all intrinsics (Context::full)");
            }
            Self::InUse(what) => {
                return write!(f, "already in use by the program: {what}; install where it is not");
            }
            Self::Failed(error) => {
                return write!(
                    f,
                    "a function could not be replaced: {error}. Create a new runtime, and install before scripts run"
                );
            }
        })
    }
}

impl Error for InstallError {}
