//! A picture of a trace.

use std::time::Duration;

use super::timeline::{End, Timeline, What};
use crate::text::{clean, short_duration};

/// The most slices that are drawn, the last ones,
const SLICES: usize = 400;

/// and the most lanes, the first ones.
const LANES: usize = 24;

const WIDTH: f64 = 960.0;
/// The width of the names of the lanes.
const LEFT: f64 = 130.0;
const TOP: f64 = 46.0;
/// The height of a row, with the gap below it.
const ROW: f64 = 22.0;
const BAR: f64 = 16.0;

const STYLE: &str = "text{font:12px sans-serif;fill:#333}.axis{stroke:#ddd}.hold{fill:#4e79a7}.wait{fill:#f2b56b}\
    .gave{fill:#c9c9c9}.open{fill:#e15759}.notify{fill:#59a14f}.in{fill:#fff;font-size:11px}.dark{fill:#333;font-size:11px}\
    .arrow{stroke:#222;fill:none;marker-end:url(#head)}";

pub(super) fn drawn(timeline: &Timeline) -> String {
    let lanes = timeline.lanes.len().min(LANES);
    let mut shown: Vec<usize> =
        (0..timeline.slices.len()).filter(|at| timeline.slices[*at].lane < lanes).collect();
    shown.sort_by_key(|at| timeline.slices[*at].end);
    let left_out = shown.len().saturating_sub(SLICES);
    shown.drain(..left_out);
    let begin = shown.iter().map(|at| timeline.slices[*at].begin).min().unwrap_or_default();
    let end = shown.iter().map(|at| timeline.slices[*at].end).max().unwrap_or_default();
    let span = (end.saturating_sub(begin)).max(Duration::from_nanos(1));
    let x = |time: Duration| {
        LEFT + (WIDTH - LEFT - 10.0) * time.saturating_sub(begin).as_secs_f64() / span.as_secs_f64()
    };
    let y = |row: usize| TOP + ROW * row as f64;
    let height = y(timeline.rows[lanes]) + 10.0;

    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\">\n<style>{STYLE}\
         </style>\n<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
         <path d=\"M0 0L8 4L0 8z\" fill=\"#222\"/></marker></defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    let legend = [("hold", "holds"), ("wait", "waits"), ("gave", "gave up"), ("open", "still waiting")];
    for (at, (class, text)) in legend.into_iter().enumerate() {
        let at = LEFT + 90.0 * at as f64;
        svg += &format!(
            "<rect x=\"{at}\" y=\"8\" width=\"12\" height=\"12\" class=\"{class}\"/><text x=\"{}\" y=\"18\">{text}</text>\n",
            at + 17.0
        );
    }
    let missing = match (left_out, timeline.lanes.len() - lanes) {
        (0, 0) => String::new(),
        (slices, lanes) => format!("; {slices} earlier slices and {lanes} lanes are not shown"),
    };
    svg += &format!(
        "<text x=\"{}\" y=\"18\">arrows: who woke whom{missing}</text>\n",
        LEFT + 90.0 * legend.len() as f64 + 20.0
    );
    for tick in 0..=5 {
        let time = span * tick / 5;
        let at = x(begin + time);
        svg += &format!(
            "<line x1=\"{at:.1}\" y1=\"{}\" x2=\"{at:.1}\" y2=\"{height}\" class=\"axis\"/><text x=\"{at:.1}\" y=\"36\" text-anchor=\"{}\">{}</text>\n",
            TOP - 6.0,
            if tick == 5 { "end" } else { "middle" },
            short_duration(time)
        );
    }
    for (who, row) in timeline.lanes[..lanes].iter().zip(&timeline.rows) {
        let name = escaped(&clean(&who.to_string(), 22));
        svg += &format!("<text x=\"6\" y=\"{}\">{name}</text>\n", y(*row) + 12.0);
    }
    // A slice inside another is drawn over it.
    shown.sort_by_key(|at| (timeline.slices[*at].begin, std::cmp::Reverse(timeline.slices[*at].end)));
    for slice in shown.iter().map(|at| &timeline.slices[*at]) {
        let (class, verb) = match slice.what {
            What::Hold => ("hold", "holds"),
            What::Notify => ("notify", "notifies"),
            What::Wait(End::GaveUp) => ("gave", "waits for"),
            What::Wait(End::Open) => ("open", "waits for"),
            What::Wait(_) => ("wait", "waits for"),
        };
        let (left, right, top) = (x(slice.begin), x(slice.end), y(slice.row));
        let site = slice.site.as_ref().map(|site| format!(" at {site}")).unwrap_or_default();
        let (who, long) = (&timeline.lanes[slice.lane], short_duration(slice.end - slice.begin));
        svg += &format!(
            "<rect x=\"{left:.1}\" y=\"{top}\" width=\"{:.1}\" height=\"{BAR}\" class=\"{class}\"><title>{}</title></rect>\n",
            (right - left).max(1.0),
            escaped(&format!("{who} {verb} {}{site}, {long}", slice.lock))
        );
        let text = slice.lock.name.clone().unwrap_or_else(|| slice.lock.to_string());
        let room = ((right - left) / 7.0) as usize;
        if room >= text.chars().count() {
            let class = if slice.what == What::Hold { "in" } else { "dark" };
            svg += &format!(
                "<text x=\"{:.1}\" y=\"{}\" class=\"{class}\">{}</text>\n",
                left + 4.0,
                top + 12.0,
                escaped(&text)
            );
        }
    }
    for arrow in timeline.arrows.iter().filter(|arrow| arrow.iter().all(|at| shown.contains(at))) {
        let [from, to] = arrow.map(|at| &timeline.slices[at]);
        svg += &format!(
            "<path class=\"arrow\" d=\"M{:.1} {}L{:.1} {}\"/>\n",
            x(from.end),
            y(from.row) + BAR / 2.0,
            x(to.end),
            y(to.row) + if to.row > from.row { 1.0 } else { BAR - 1.0 }
        );
    }
    svg + "</svg>\n"
}

/// Escaped for XML, which has no control characters, not even escaped ones.
fn escaped(text: &str) -> String {
    text.replace(char::is_control, " ")
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
