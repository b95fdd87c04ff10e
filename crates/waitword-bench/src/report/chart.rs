//! The pictures of a workload, one for each N: rate against longest wait, one point per contender. Both axes are logarithmic.

use std::collections::BTreeSet;
use std::error::Error;

use plotters::prelude::*;

use crate::runner::Results;
use crate::series::{RATE, Series, WAITS};
use crate::workload::OURS;

const SIZE: (u32, u32) = (860, 440);
const LEGEND_WIDTH: u32 = 190;
const FONT: &str = "sans-serif";
const COLORS: [RGBColor; 8] = [
    full_palette::RED_700,
    full_palette::BLUE_600,
    full_palette::GREEN_700,
    full_palette::PURPLE_400,
    full_palette::ORANGE_700,
    full_palette::TEAL_400,
    full_palette::BROWN_400,
    full_palette::GREY_600,
];

/// The file of each picture, and its SVG.
pub(super) fn of(results: &Results<'_>) -> Vec<(String, String)> {
    let has = |what| results.series.iter().any(|series| series.what == what);
    if ![RATE, WAITS[0], WAITS[1]].into_iter().all(has) {
        return Vec::new();
    }
    let sizes = results.series.iter().filter(|series| series.what == RATE).map(|series| series.n);
    let picture = |n| {
        // Drawing into a string fails only if the numbers cannot be drawn.
        Some((format!("{}-{n}.svg", results.workload.name), at_size(results, n).ok()?))
    };
    sizes.collect::<BTreeSet<_>>().into_iter().filter_map(picture).collect()
}

fn at_size(results: &Results<'_>, n: usize) -> Result<String, Box<dyn Error>> {
    let points = results.contenders().filter_map(|contender| {
        let waits = WAITS.iter().filter_map(|wait| results.find(contender, wait, n));
        let longest = waits.map(Series::median).fold(0.0, f64::max);
        Some((contender, longest, results.find(contender, RATE, n)?.median()))
    });
    let title =
        format!("{}, N = {n}: {RATE} (million/s) against the longest wait (ms)", results.workload.name);
    let mut svg = String::new();
    draw(&mut svg, &title, &points.collect::<Vec<_>>())?;
    Ok(svg)
}

/// The points are names, longest waits in nanoseconds, and rates per second. Up is better, and left is.
fn draw(svg: &mut String, title: &str, points: &[(&str, f64, f64)]) -> Result<(), Box<dyn Error>> {
    // A logarithm needs something to work on.
    let points =
        points.iter().map(|&(name, wait, rate)| (name, (wait / 1e6).max(1e-3), (rate / 1e6).max(1e-3)));
    let points = points.collect::<Vec<_>>();
    let range = |values: &mut dyn Iterator<Item = f64>| {
        let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
        (low / 2.0..high * 2.0).log_scale()
    };
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let (left, legend) = area.split_horizontally(SIZE.0 - LEGEND_WIDTH);
    let mut chart = ChartBuilder::on(&left)
        .caption(title, (FONT, 18))
        .margin(12)
        .margin_right(30)
        .x_label_area_size(36)
        .y_label_area_size(60)
        .build_cartesian_2d(
            range(&mut points.iter().map(|&(_, wait, _)| wait)),
            range(&mut points.iter().map(|&(.., rate)| rate)),
        )?;
    chart
        .configure_mesh()
        .x_desc("longest wait, ms")
        .y_desc("million/s")
        .x_label_formatter(&short)
        .y_label_formatter(&short)
        .light_line_style(full_palette::GREY_100)
        .draw()?;
    for (index, (&(name, wait, rate), color)) in points.iter().zip(COLORS.iter().cycle()).enumerate() {
        let row = 60 + 22 * index as i32;
        // The second time around the colours are empty circles.
        let style = if index < COLORS.len() { color.filled() } else { color.stroke_width(2) };
        let radius = if name == OURS { 8 } else { 5 };
        chart.draw_series([Circle::new((wait, rate), radius, style)])?;
        legend.draw(&Circle::new((9, row), radius, style))?;
        legend.draw(&Text::new(name, (26, row - 7), (FONT, 14)))?;
    }
    area.present()?;
    Ok(())
}

/// A number at an axis.
fn short(value: &f64) -> String {
    match *value {
        value if value < 0.1 => format!("{value:.3}"),
        value if value < 10.0 => format!("{value:.1}"),
        value if value < 1e3 => format!("{value:.0}"),
        value if value < 1e6 => format!("{:.0}k", value / 1e3),
        value => format!("{:.0}M", value / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{results, workload};
    use super::*;
    use crate::series::{Sample, Unit};

    #[test]
    fn there_is_a_picture_for_each_size_even_without_a_wait() {
        let workload = workload(&[OURS, "peer"], Vec::new());
        let samples = [(4, OURS), (4, "peer"), (16, OURS), (16, "peer")].map(|(n, contender)| {
            let rate = Sample::new(RATE, n, Unit::PerSecond, 1e6 * n as f64);
            let waits = WAITS.map(|what| Sample::new(what, n, Unit::Nanos, 0.0));
            [&[rate], &waits[..]].concat().into_iter().map(move |sample| (contender, sample))
        });
        let results = results(&workload, samples.into_iter().flatten().collect());
        let pictures = of(&results);
        let files = pictures.iter().map(|(file, _)| file.as_str()).collect::<Vec<_>>();
        assert_eq!(files, ["test-4.svg", "test-16.svg"]);
        assert!(pictures.iter().all(|(_, svg)| svg.contains(OURS) && svg.contains("peer")));
    }
}
