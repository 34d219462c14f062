//! One bar for each ratio, with its target as a mark.

use crate::measure::Figures;
use plotters::prelude::*;
use std::path::Path;

const ROW: i32 = 34;
const LEFT: i32 = 360;
const SCALE: f64 = 420.0;

/// Draws the ratios.
pub(crate) fn ratios(figures: &Figures, to: &Path) -> anyhow::Result<()> {
    let bars: Vec<_> = figures
        .lines
        .iter()
        .filter_map(|line| line.ratio.as_ref().map(|ratio| (&line.name, ratio)))
        .collect();
    let height = u32::try_from(ROW * bars.len() as i32 + 30)?;
    let area = SVGBackend::new(to, (940, height)).into_drawing_area();
    area.fill(&WHITE)?;
    let label = ("sans-serif", 14).into_font().color(&BLACK);
    for (row, (name, ratio)) in bars.iter().enumerate() {
        let top = 15 + ROW * row as i32;
        let end = LEFT + (ratio.value.min(1.2) * SCALE) as i32;
        let color = RGBColor(46, 110, 180);
        area.draw(&Rectangle::new([(LEFT, top), (end, top + ROW - 12)], color.filled()))?;
        let text = format!("{name} / {}", ratio.to);
        area.draw(&Text::new(text, (8, top + 3), label.clone()))?;
        area.draw(&Text::new(format!("{:.2}", ratio.value), (end + 6, top + 3), label.clone()))?;
        if let Some(least) = ratio.at_least {
            let x = LEFT + (least * SCALE) as i32;
            let line = vec![(x, top - 4), (x, top + ROW - 8)];
            area.draw(&PathElement::new(line, RGBColor(200, 60, 40).stroke_width(2)))?;
        }
    }
    area.present()?;
    Ok(())
}
