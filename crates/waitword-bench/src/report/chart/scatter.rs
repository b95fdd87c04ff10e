//! Rate against longest wait, one point per contender.

use std::error::Error;

use plotters::prelude::*;

use super::style::{COLORS, FONT, LEGEND_WIDTH, SIZE, short};
use crate::workload::OURS;

/// The points are names, longest waits in nanoseconds, and rates per second. Up is better, and left is.
pub(super) fn draw(svg: &mut String, title: &str, points: &[(&str, f64, f64)]) -> Result<(), Box<dyn Error>> {
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
