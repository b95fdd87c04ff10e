//! A guide for users of the locks: which to use, the guarantees of all of them, the counterparts of other crates' APIs, and how to find
//! calls that block in a task.

#[doc = include_str!("../docs/which_lock.md")]
pub mod which_lock {}

#[doc = include_str!("../docs/what_holds.md")]
pub mod what_holds {}

#[doc = include_str!("../docs/coming_from.md")]
pub mod coming_from {}

#[doc = include_str!("../docs/must_not_block.md")]
/// # The configuration for clippy
///
/// ```toml
#[doc = include_str!("../docs/clippy.toml")]
/// ```
pub mod must_not_block {}

#[cfg(all(test, not(waitword_loom)))]
mod tests {
    use std::time::Duration;

    use crate::barging_window::{FIRST_CLOCK_READ, ROUND, SHORTEST_WINDOW, WINDOW};
    use crate::raw_mutex::RELEASES_PER_CLOCK_READ;

    /// The promised bounds follow from the constants that make them hold.
    #[test]
    fn the_table_of_bounds_has_the_numbers_of_the_code() {
        let page = include_str!("../docs/what_holds.md");
        let micros = |duration: Duration| format!("{} µs", duration.as_micros());
        let many = ROUND.div_duration_f64(WINDOW) as u32;
        let all = ROUND.div_duration_f64(SHORTEST_WINDOW) as u32;
        // Between two reads of the clock, of which the first opens the window: the release whose read is due, and all until the next. After
        // that one, which has released the mutex before it reads the clock, one more acquirer may barge.
        let beyond = 2 * RELEASES_PER_CLOCK_READ - 1;
        // If each hold is as long as this, the second read comes when the window is closed.
        let each = WINDOW / FIRST_CLOCK_READ;
        let rows = [
            format!("| of a `Mutex`, up to {many} | {} |", micros(WINDOW)),
            format!("| of a `Mutex`, *n*, more than {many} | {} ms / *n* |", ROUND.as_millis()),
            format!("| of a `Mutex`, {all} or more | {} |", micros(SHORTEST_WINDOW)),
            format!("| of a `RwLock` or a `Semaphore` | {} |", micros(WINDOW)),
            format!(
                "A mutex reads it at every {RELEASES_PER_CLOCK_READ}th release. A semaphore reads it at the {FIRST_CLOCK_READ}th,"
            ),
            format!("| `Mutex` | longer than the barging window | {} |", beyond + 2),
            format!("| | less | as many as fit into the barging window, and {beyond} more |"),
            format!("| `RwLock`, `Semaphore` | {} or longer | {} |", micros(each), 2 * FIRST_CLOCK_READ),
            // If each is a little shorter, it takes the third read.
            format!(
                "| | less | as many as fit into {} ms, mostly into {} ms |",
                (each * 4 * FIRST_CLOCK_READ).as_secs_f64() * 1e3,
                (each * 2 * FIRST_CLOCK_READ).as_secs_f64() * 1e3
            ),
        ];
        for row in rows {
            assert!(page.contains(&row), "not in docs/what_holds.md: {row}");
        }
    }
}
