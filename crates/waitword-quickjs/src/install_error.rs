//! Why a runtime or a context does not take our functions.

use std::error::Error;
use std::fmt;

use crate::ffi::JsError;

/// Why nothing was installed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstallError {
    /// It is installed in this context, or in another one of this runtime.
    Installed,
    /// The context is not of the agent's runtime.
    OtherRuntime,
    /// The context lacks a built-in.
    Missing(&'static str),
    /// The program uses what this needs itself: the runtime's functions for shared memory (`JS_SetSharedArrayBufferFunctions`), the
    /// context's opaque pointer (`JS_SetContextOpaque`), or, further up the stack, the runtime's userdata.
    InUse(&'static str),
    /// The engine refused a function: a script has frozen what it would go into, or the memory limit is reached. The context may have
    /// got some of them.
    Failed(JsError),
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Installed => {
                "waitword is installed in this runtime: use that agent, and its add_realm for other contexts"
            }
            Self::OtherRuntime => {
                "this context is of another runtime: install there, for an agent of its own"
            }
            Self::Missing(name) => {
                return write!(f, "this context has no {name}: make it with all intrinsics (Context::full)");
            }
            Self::InUse(what) => return write!(f, "the program uses {what}: install where it does not"),
            Self::Failed(error) => {
                return write!(
                    f,
                    "a function could not be replaced: {error}. Make a new runtime, and install first"
                );
            }
        })
    }
}

impl Error for InstallError {}
