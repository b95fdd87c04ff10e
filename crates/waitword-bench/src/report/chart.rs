//! Cost against N, both logarithmic, one line per contender.

use std::collections::BTreeSet;
use std::error::Error;

use plotters::prelude::*;

use crate::runner::Results;
use crate::series::{Series, Unit};
use crate::workloads::{Contender, OURS};

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

/// One chart for each operation of each workload that has something to show at several sizes.
pub(crate) fn all(results: &[Results<'_>]) -> Vec<Chart> {
    results.iter().filter(|results| results.workload.charted).flat_map(of_workload).collect()
}

fn of_workload(results: &Results<'_>) -> Vec<Chart> {
    let ours = results.series.iter().filter(|s| s.contender == OURS && s.unit == Unit::Nanos);
    let operations = ours.map(|series| series.what).collect::<BTreeSet<_>>();
    operations.into_iter().filter_map(|what| of_operation(results, what)).collect()
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
