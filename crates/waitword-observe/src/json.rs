//! JSON of this crate: an object in one line, which begins with its format and the version of its schema. Durations are whole nanoseconds.

use std::time::Duration;

use serde::{Deserialize, Serialize};

#[cfg(feature = "json")]
#[derive(Serialize)]
struct Tagged<'a, T> {
    format: &'static str,
    schema: u32,
    #[serde(flatten)]
    data: &'a T,
}

#[cfg(feature = "json")]
pub(crate) fn written<T: Serialize>(format: &'static str, schema: u32, data: &T) -> String {
    plain(&Tagged { format, schema, data })
}

/// Data that JSON can represent in any case.
#[cfg(feature = "json")]
pub(crate) fn plain(data: &impl Serialize) -> String {
    serde_json::to_string(data).unwrap_or_else(|error| unreachable!("plain data: {error}"))
}

/// The format and the schema version of a text, if it has them.
#[cfg(feature = "json")]
pub(crate) fn head(json: &str) -> Option<(String, u32)> {
    #[derive(Deserialize)]
    struct Head {
        format: String,
        schema: u32,
    }
    serde_json::from_str(json).ok().map(|Head { format, schema }| (format, schema))
}

/// The error of a request for JSON in a program without the feature `json`.
#[cfg(not(feature = "json"))]
pub(crate) fn not_built_in() -> std::io::Error {
    let text = "this program is built without JSON; add waitword-observe, with its default features, to its dependencies \
                (trace=FILE.svg needs none)";
    std::io::Error::new(std::io::ErrorKind::Unsupported, text)
}

/// Durations that do not fit into 64 bits are longer than 580 years.
pub(crate) fn count_nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

pub(crate) mod nanos {
    use super::*;
    use serde::{Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        count_nanos(*duration).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_nanos)
    }
}

pub(crate) mod optional_nanos {
    use super::*;
    use serde::{Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        duration: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        duration.map(count_nanos).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_nanos))
    }
}
