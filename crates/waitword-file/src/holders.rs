//! The processes that hold the lock of a file, as far as the system reports them.

use std::fs::Metadata;

/// Reads `/proc/locks`. A line of a holder is `7: FLOCK  ADVISORY  WRITE 1234 fd:01:5678 0 EOF`. A line of a waiter has `->` after the number.
#[cfg(target_os = "linux")]
pub(crate) fn of(file: &Metadata) -> Vec<u32> {
    use std::collections::BTreeSet;
    use std::fs::File;
    use std::io::{BufRead, BufReader};
    use std::os::unix::fs::MetadataExt;

    let device = file.dev();
    let major = (device >> 8) & 0xfff | (device >> 32) & !0xfff;
    let minor = device & 0xff | (device >> 12) & !0xff;
    let here = format!("{major:02x}:{minor:02x}:{}", file.ino());
    // Read in parts as large as the system returns them, pages: if the list changes between two parts, lines are missed or come again.
    let Ok(locks) = File::open("/proc/locks") else { return Vec::new() };
    let locks = BufReader::with_capacity(1 << 16, locks);
    let holder = |line: &str| match *line.split_whitespace().collect::<Vec<_>>() {
        [_, "FLOCK", _, _, process, file, ..] if file == here => process.parse().ok(),
        _ => None,
    };
    let holders: BTreeSet<_> = locks.lines().map_while(Result::ok).filter_map(|line| holder(&line)).collect();
    Vec::from_iter(holders)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn of(_file: &Metadata) -> Vec<u32> {
    Vec::new()
}
