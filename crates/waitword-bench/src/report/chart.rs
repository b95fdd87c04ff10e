//! Cost against N, one line per contender, and how much is done against how long somebody waits, one point per contender;
//! all axes logarithmic.

use std::collections::BTreeSet;
use std::error::Error;

use plotters::prelude::*;

use crate::runner::Results;
use crate::series::{Series, Unit};
use crate::workloads::{Charts, Contender, OURS, Page};

/// A picture and where it goes.
pub(crate) struct Chart {
    pub(crate) file: String,
    pub(crate) title: String,
    pub(crate) svg: String,
}

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

/// The charts that belong on one page.
pub(crate) fn all(results: &[Results<'_>], page: Page) -> Vec<Chart> {
    results.iter().filter(|results| results.workload.page == page).flat_map(of_workload).collect()
}

fn of_workload(results: &Results<'_>) -> Vec<Chart> {
    match results.workload.charts {
        Charts::None => Vec::new(),
        Charts::CostAgainstN => {
            let ours = results.series.iter().filter(|s| s.contender == OURS && s.unit == Unit::Nanos);
            let operations = ours.map(|series| series.what).collect::<BTreeSet<_>>();
            operations.into_iter().filter_map(|what| of_operation(results, what)).collect()
        }
        Charts::RateAgainstWait { rate, waits } => {
            let rates = results.series.iter().filter(|series| series.what == rate);
            let sizes = rates.map(|series| series.n).collect::<BTreeSet<_>>();
            sizes.into_iter().filter_map(|n| of_size(results, rate, waits, n)).collect()
        }
    }
}

fn of_size(results: &Results<'_>, rate: &str, waits: &[&str], n: usize) -> Option<Chart> {
    let name = results.workload.name;
    let points = results.workload.contenders.iter().filter_map(|contender| {
        let waits = waits.iter().filter_map(|wait| results.find(contender.name, wait, n));
        let longest = waits.map(Series::median).fold(0.0, f64::max);
        let per_second = results.find(contender.name, rate, n)?.median();
        Some((contender.name, longest / 1e6, per_second / 1e6))
    });
    let points = points.map(|(name, wait, rate)| (name, wait.max(1e-3), rate.max(1e-3))).collect::<Vec<_>>();
    let title = format!("{name}, N = {n}: {rate} (million/s) against the longest wait (ms)");
    let mut svg = String::new();
    // As below.
    scatter(&mut svg, &title, &points).ok()?;
    Some(Chart { file: format!("{name}-{n}.svg"), title, svg })
}

/// Up is better, and left is.
fn scatter(svg: &mut String, title: &str, points: &[(&str, f64, f64)]) -> Result<(), Box<dyn Error>> {
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
        .x_label_formatter(&fine)
        .y_label_formatter(&fine)
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

fn of_operation(results: &Results<'_>, what: &str) -> Option<Chart> {
    let shown = results.series.iter().filter(|series| series.what == what).collect::<Vec<_>>();
    let sizes = shown.iter().map(|series| series.n as f64);
    let (least, most) = sizes.fold((f64::INFINITY, 0.0), |(least, most), n| (n.min(least), n.max(most)));
    if least >= most {
        return None;
    }
    let title = format!("{}: {what}, ns per waiter", results.workload.name);
    let mut svg = String::new();
    // Drawing into a string fails only if the numbers cannot be drawn.
    draw(&mut svg, &title, &results.workload.contenders, &shown, (least, most)).ok()?;
    let file = format!("{}-{}.svg", results.workload.name, what.replace(", ", "-").replace(' ', "-"));
    Some(Chart { file, title, svg })
}

fn draw(
    svg: &mut String,
    title: &str,
    contenders: &[Contender],
    shown: &[&Series],
    (least, most): (f64, f64),
) -> Result<(), Box<dyn Error>> {
    let costs = shown.iter().map(|series| drawable(series.median()));
    let (low, high) = costs.fold((f64::INFINITY, 0.0), |(low, high), cost| (cost.min(low), cost.max(high)));
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let (lines, legend) = area.split_horizontally(SIZE.0 - LEGEND_WIDTH);
    let mut chart = ChartBuilder::on(&lines)
        .caption(title, (FONT, 18))
        .margin(12)
        .margin_right(30)
        .x_label_area_size(36)
        .y_label_area_size(60)
        .build_cartesian_2d((least..most).log_scale(), (low / 1.5..high * 1.5).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("N")
        .y_desc("ns")
        .x_label_formatter(&short)
        .y_label_formatter(&short)
        .light_line_style(full_palette::GREY_100)
        .draw()?;
    let mut row = 60;
    for (contender, color) in contenders.iter().zip(COLORS.iter().cycle()) {
        let of_contender = shown.iter().filter(|series| series.contender == contender.name);
        let mut points =
            of_contender.map(|series| (series.n as f64, drawable(series.median()))).collect::<Vec<_>>();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        if points.is_empty() {
            continue;
        }
        let width = if contender.name == OURS { 4 } else { 2 };
        let style = color.stroke_width(width);
        chart.draw_series(LineSeries::new(points, style).point_size(width))?;
        legend.draw(&PathElement::new([(0, row), (18, row)], style))?;
        legend.draw(&Text::new(contender.name, (26, row - 7), (FONT, 14)))?;
        row += 22;
    }
    area.present()?;
    Ok(())
}

/// A logarithm needs something to work on.
fn drawable(nanos: f64) -> f64 {
    nanos.max(0.1)
}

fn short(value: &f64) -> String {
    match *value {
        value if value < 10.0 => format!("{value:.1}"),
        value if value < 1e3 => format!("{value:.0}"),
        value if value < 1e6 => format!("{:.0}k", value / 1e3),
        value => format!("{:.0}M", value / 1e6),
    }
}

/// What is below 1 has its digits too.
fn fine(value: &f64) -> String {
    match *value {
        value if value < 0.1 => format!("{value:.3}"),
        value if value < 10.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}
