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

const SIZE: (u32, u32) = (820, 460);
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
    let costs = shown.iter().map(|series| series.median().max(0.1));
    let (low, high) = costs.fold((f64::INFINITY, 0.0), |(low, high), cost| (cost.min(low), cost.max(high)));
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(56)
        .build_cartesian_2d((least..most).log_scale(), (low / 1.5..high * 1.5).log_scale())?;
    let number = |value: &f64| if *value < 10.0 { format!("{value:.1}") } else { format!("{value:.0}") };
    chart
        .configure_mesh()
        .x_desc("N")
        .y_desc("ns")
        .x_label_formatter(&number)
        .y_label_formatter(&number)
        .draw()?;
    for (contender, color) in contenders.iter().zip(COLORS.iter().cycle()) {
        let mut points = shown
            .iter()
            .filter(|series| series.contender == contender.name)
            .map(|series| (series.n as f64, series.median().max(0.1)))
            .collect::<Vec<_>>();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        if points.is_empty() {
            continue;
        }
        let width = if contender.name == OURS { 4 } else { 2 };
        let style = color.stroke_width(width);
        chart
            .draw_series(LineSeries::new(points.iter().copied(), style).point_size(width))?
            .label(contender.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.85))
        .border_style(full_palette::GREY_400)
        .draw()?;
    area.present()?;
    Ok(())
}
