//! Why a recipe ended early.

/// Why a recipe ended early. What is said for each code in [`args`](crate::args) has to stay true.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A check failed, or could not be run to its end.
    Failed(String),
    /// The command line asks for something that there is not.
    Usage(String),
    /// A program is not installed.
    Missing { name: &'static str, how_to_get: &'static str },
    /// What was run passed; of the rest, a line for each part.
    Skipped(String),
}

impl Stop {
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Failed(_) => 1,
            Self::Usage(_) => 2,
            Self::Missing { .. } | Self::Skipped(_) => 3,
        }
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Failed(why) | Self::Usage(why) => f.write_str(why),
            Self::Missing { name, how_to_get } => write!(f, "{name} is missing; to get it: {how_to_get}"),
            Self::Skipped(lines) => write!(f, "what could be run passed; the rest could not:\n{lines}"),
        }
    }
}
