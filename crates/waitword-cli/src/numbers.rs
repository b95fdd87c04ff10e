//! Numbers on the command line. Each error says what to write instead.

use std::num::{IntErrorKind, ParseIntError};
use std::time::Duration;

pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let number: Option<f64> = text.parse().ok();
    let duration =
        number.filter(|number| *number > 0.0).and_then(|number| Duration::try_from_secs_f64(number).ok());
    duration.ok_or_else(|| "expected a number of seconds greater than 0, such as 10 or 0.5".to_owned())
}

pub(crate) fn size(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" => Some(1),
        "K" | "KB" | "KIB" => Some(1 << 10),
        "M" | "MB" | "MIB" => Some(1 << 20),
        "G" | "GB" | "GIB" => Some(1 << 30),
        _ => None,
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let Some(unit) = unit.filter(|_| is_number) else {
        return Err("expected a number of bytes, or a number followed by K, M or G, such as 64M".to_owned());
    };
    match digits.parse::<usize>().ok().and_then(|number| number.checked_mul(unit)) {
        Some(0) => Err("expected a number of bytes greater than 0, such as 64M".to_owned()),
        Some(bytes) => Ok(bytes),
        // The text is all digits, so only overflow can fail.
        None => Err(TOO_LARGE.to_owned()),
    }
}

const TOO_LARGE: &str = "the number is too large";

pub(crate) fn count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => TOO_LARGE.to_owned(),
        _ => "expected a whole number, such as 16".to_owned(),
    })
}
