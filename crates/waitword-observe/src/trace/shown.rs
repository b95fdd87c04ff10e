//! A trace for viewers.

use super::events::Trace;
use super::timeline::Timeline;
use super::{chrome, svg};

impl Trace {
    /// The trace in Chrome's format, which <https://ui.perfetto.dev>, `chrome://tracing` and Firefox's profiler open.
    ///
    /// Each thread, task and agent has a lane; slices are waits and holds; a flow leads from each release or notify to the wait that it ended.
    /// Slices of one lane that overlap without one being inside the other are put on further lanes of the same name.
    pub fn to_chrome_json(&self) -> String {
        chrome::written(&Timeline::of(self), self)
    }

    /// The trace as a picture, in SVG: the last 400 slices of up to 24 lanes.
    pub fn to_svg(&self) -> String {
        svg::drawn(&Timeline::of(self))
    }
}
