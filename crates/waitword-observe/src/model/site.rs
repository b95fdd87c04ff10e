//! A place in the source.

use std::borrow::Cow;
use std::fmt;
use std::panic::Location;

use serde::{Deserialize, Serialize};

/// A place in the source. Prints as `file:line`, and that of a script as `file:line:column`: a script may be a single line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Site {
    /// The file, as the compiler was given it.
    pub file: Cow<'static, str>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl From<&'static Location<'static>> for Site {
    fn from(location: &'static Location<'static>) -> Self {
        Self { file: location.file().into(), line: location.line(), column: location.column() }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line_and_column())
    }
}

impl Site {
    pub(crate) fn line_and_column(&self) -> String {
        match self.file.ends_with(".rs") {
            true => self.line.to_string(),
            false => format!("{}:{}", self.line, self.column),
        }
    }
}
