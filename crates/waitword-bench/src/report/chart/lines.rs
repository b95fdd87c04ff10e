//! A figure against N, one line per contender.

use std::error::Error;

use plotters::prelude::*;

use super::style::{COLORS, FONT, LEGEND_WIDTH, SIZE, short};
use crate::series::Series;
use crate::workload::OURS;

/// How a figure is shown.
pub(super) struct Measure {
    pub(super) title: &'static str,
    unit: &'static str,
    divisor: f64,
    /// A logarithm needs something to work on.
    least: f64,
}

pub(super) const NANOS: Measure = Measure { title: "ns per waiter", unit: "ns", divisor: 1.0, least: 0.1 };

pub(super) const MILLIONS: Measure =
    Measure { title: "million/s", unit: "million/s", divisor: 1e6, least: 1e-3 };

pub(super) fn draw(
    svg: &mut String,
    title: &str,
    contenders: &[&str],
    shown: &[&Series],
    (least, most): (f64, f64),
    measure: &Measure,
) -> Result<(), Box<dyn Error>> {
    let figure = |series: &Series| (series.median() / measure.divisor).max(measure.least);
    let figures = shown.iter().map(|series| figure(series));
    let (low, high) = figures.fold((f64::INFINITY, 0.0), |(low, high), it| (it.min(low), it.max(high)));
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
        .y_desc(measure.unit)
        .x_label_formatter(&short)
        .y_label_formatter(&short)
        .light_line_style(full_palette::GREY_100)
        .draw()?;
    let mut row = 60;
    for (contender, color) in contenders.iter().zip(COLORS.iter().cycle()) {
        let of_contender = shown.iter().filter(|series| series.contender == *contender);
        let mut points = of_contender.map(|series| (series.n as f64, figure(series))).collect::<Vec<_>>();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        if points.is_empty() {
            continue;
        }
        let width = if *contender == OURS { 4 } else { 2 };
        let style = color.stroke_width(width);
        chart.draw_series(LineSeries::new(points, style).point_size(width))?;
        legend.draw(&PathElement::new([(0, row), (18, row)], style))?;
        legend.draw(&Text::new(*contender, (26, row - 7), (FONT, 14)))?;
        row += 22;
    }
    area.present()?;
    Ok(())
}
