//! What was done to a word, and that an agent has ended.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Actor, Site};

/// Something that was done to a word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deed {
    /// Who did it. An agent may have ended since.
    pub actor: Actor,
    /// Where.
    pub site: Option<Site>,
    /// How long ago.
    #[serde(rename = "ago_ns", with = "super::nanos")]
    pub ago: Duration,
    /// Of a notify, how many waiters it woke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub woken: Option<usize>,
}

/// An actor that has ended, and still holds something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// The actor.
    pub actor: Actor,
    /// How long ago it ended.
    #[serde(rename = "ago_ns", with = "super::nanos")]
    pub ago: Duration,
}
