//! What all charts have in common.

use plotters::prelude::{RGBColor, full_palette};

pub(super) const SIZE: (u32, u32) = (860, 440);
pub(super) const LEGEND_WIDTH: u32 = 190;
pub(super) const FONT: &str = "sans-serif";
pub(super) const COLORS: [RGBColor; 8] = [
    full_palette::RED_700,
    full_palette::BLUE_600,
    full_palette::GREEN_700,
    full_palette::PURPLE_400,
    full_palette::ORANGE_700,
    full_palette::TEAL_400,
    full_palette::BROWN_400,
    full_palette::GREY_600,
];

/// A number at an axis.
pub(super) fn short(value: &f64) -> String {
    match *value {
        value if value < 0.1 => format!("{value:.3}"),
        value if value < 10.0 => format!("{value:.1}"),
        value if value < 1e3 => format!("{value:.0}"),
        value if value < 1e6 => format!("{:.0}k", value / 1e3),
        value => format!("{:.0}M", value / 1e6),
    }
}
