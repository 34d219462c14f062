//! One group of bars for each piece of work: the rate of every setup as a share of SQLite's.

use super::{PostgresFigures, SetupFigures};
use plotters::prelude::*;
use std::path::Path;

const WIDTH: u32 = 940;
const BAR: i32 = 16;
const GAP: i32 = 22;
const LEFT: i32 = 360;
const LABEL_LEFT: i32 = 210;
/// Pixels of SQLite's own rate.
const SCALE: f64 = 300.0;
const SHARE_MAX: f64 = 1.7;

/// Draws the shares.
pub(crate) fn draw(figures: &PostgresFigures, to: &Path) -> anyhow::Result<()> {
    let bars: i32 = figures.works.iter().map(|work| work.setups.len() as i32).sum();
    let height = u32::try_from(bars * BAR + figures.works.len() as i32 * (GAP + BAR) + GAP)?;
    let area = SVGBackend::new(to, (WIDTH, height)).into_drawing_area();
    area.fill(&WHITE)?;
    let label = ("sans-serif", 12).into_font().color(&BLACK);
    let title = ("sans-serif", 14).into_font().color(&BLACK);
    let mut top = GAP / 2;
    for work in &figures.works {
        area.draw(&Text::new(work.name.clone(), (8, top), title.clone()))?;
        top += BAR + 4;
        for (nth, SetupFigures { setup, to_sqlite, .. }) in work.setups.iter().enumerate() {
            let end = LEFT + (to_sqlite.min(SHARE_MAX) * SCALE) as i32;
            let shade = 40 * nth.min(3) as u8;
            let color = RGBColor(30 + shade, 80 + shade, 160 + shade / 2);
            area.draw(&Rectangle::new([(LEFT, top), (end, top + BAR - 3)], color.filled()))?;
            area.draw(&Text::new(setup.name(), (LABEL_LEFT, top + 1), label.clone()))?;
            let share = format!("{to_sqlite:.2}");
            area.draw(&Text::new(share, (end + 6, top + 1), label.clone()))?;
            top += BAR;
        }
        top += GAP - 4;
    }
    area.present()?;
    Ok(())
}
