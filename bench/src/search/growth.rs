//! How the time of a search grows with the collection: a line for each sort of search, both axes
//! logarithmic.

use super::SearchFigures;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::path::Path;

const SIZE: (u32, u32) = (940, 520);
const LEFT: f64 = 70.0;
const RIGHT: f64 = 640.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 470.0;
const LEGEND_ROW: i32 = 24;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// One line: its name, its color, whether it is what Loci is compared with, and its points.
struct Line {
    name: &'static str,
    color: RGBColor,
    is_raw: bool,
    points: Vec<(f64, f64)>,
}

/// Where a number is between two powers of ten, from 0 to 1.
#[derive(Clone, Copy)]
struct Decades(f64, f64);

impl Decades {
    fn around(values: impl Iterator<Item = f64> + Clone) -> Self {
        let least = values.clone().fold(f64::INFINITY, f64::min).log10().floor();
        let most = values.fold(0.0, f64::max).log10().ceil();
        Self(least, most.max(least + 1.0))
    }

    fn share(self, value: f64) -> f64 {
        (value.log10() - self.0) / (self.1 - self.0)
    }

    fn marks(self) -> impl Iterator<Item = f64> {
        (self.0 as i32..=self.1 as i32).map(|power| 10f64.powi(power))
    }
}

/// Draws the medians.
pub(crate) fn draw(figures: &SearchFigures, to: &Path) -> anyhow::Result<()> {
    let lines = lines(figures);
    let all = || lines.iter().flat_map(|line| line.points.iter().copied());
    let across = Decades::around(all().map(|(memories, _)| memories));
    let up = Decades::around(all().map(|(_, ms)| ms));
    let place = |(memories, ms): (f64, f64)| {
        let x = LEFT + (RIGHT - LEFT) * across.share(memories);
        let y = BOTTOM - (BOTTOM - TOP) * up.share(ms);
        (x.round() as i32, y.round() as i32)
    };
    let area = SVGBackend::new(to, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let (first, last) = (10f64.powf(across.0), 10f64.powf(across.1));
    let (least, most) = (10f64.powf(up.0), 10f64.powf(up.1));
    for memories in across.marks() {
        rule(&area, place((memories, least)), place((memories, most)))?;
        let (x, y) = place((memories, least));
        label(&area, &memories_shown(memories), (x, y + 8), HPos::Center)?;
    }
    for ms in up.marks() {
        rule(&area, place((first, ms)), place((last, ms)))?;
        let (x, y) = place((first, ms));
        label(&area, &format!("{ms} ms"), (x - 8, y - 6), HPos::Right)?;
    }
    label(&area, "memories", (place((last, least)).0, BOTTOM as i32 + 28), HPos::Right)?;
    for (row, line) in lines.iter().enumerate() {
        let points: Vec<(i32, i32)> = line.points.iter().map(|point| place(*point)).collect();
        trace(&area, line, points)?;
        let y = TOP as i32 + LEGEND_ROW * row as i32 + 10;
        let x = RIGHT as i32 + 30;
        trace(&area, line, vec![(x, y), (x + 30, y)])?;
        label(&area, line.name, (x + 40, y - 6), HPos::Left)?;
    }
    area.present()?;
    Ok(())
}

fn lines(figures: &SearchFigures) -> Vec<Line> {
    let points = |ms: &dyn Fn(&super::SizeFigures) -> f64| {
        figures.sizes.iter().map(|size| (size.memories as f64, ms(size).max(0.01))).collect()
    };
    let line = |name, (red, green, blue), is_raw, ms: &dyn Fn(&super::SizeFigures) -> f64| Line {
        name,
        color: RGBColor(red, green, blue),
        is_raw,
        points: points(ms),
    };
    vec![
        line("hybrid, one store", (46, 110, 180), false, &|size| size.one_store.hybrid.p50_ms),
        line("semantic, one store", (70, 160, 120), false, &|size| size.one_store.semantic.p50_ms),
        line("lexical, one store", (200, 130, 30), false, &|size| size.one_store.lexical.p50_ms),
        line("hybrid, 1,000 stores", (130, 90, 170), false, &|size| size.many_stores.hybrid.p50_ms),
        line("lexical, 1,000 stores", (190, 90, 120), false, &|size| {
            size.many_stores.lexical.p50_ms
        }),
        line("query embedding alone", (120, 120, 120), true, &|size| {
            size.one_store.embedding.p50_ms
        }),
        line("raw FTS5", (200, 60, 40), true, &|size| size.raw.fts.p50_ms),
        line("raw SIMD scan", (60, 60, 60), true, &|size| size.raw.scan.p50_ms),
    ]
}

/// A solid line for Loci, a thin one for the rest, with a dot at each point.
fn trace(area: &Area<'_>, line: &Line, points: Vec<(i32, i32)>) -> anyhow::Result<()> {
    for point in &points {
        area.draw(&Circle::new(*point, 3, line.color.filled()))?;
    }
    let width = if line.is_raw { 1 } else { 3 };
    area.draw(&PathElement::new(points, line.color.stroke_width(width)))?;
    Ok(())
}

fn rule(area: &Area<'_>, from: (i32, i32), to: (i32, i32)) -> anyhow::Result<()> {
    area.draw(&PathElement::new(vec![from, to], RGBColor(220, 220, 220).stroke_width(1)))?;
    Ok(())
}

fn label(area: &Area<'_>, text: &str, at: (i32, i32), side: HPos) -> anyhow::Result<()> {
    let font = ("sans-serif", 14).into_font().color(&BLACK);
    area.draw(&Text::new(text.to_owned(), at, font.pos(Pos::new(side, VPos::Top))))?;
    Ok(())
}

fn memories_shown(memories: f64) -> String {
    match memories {
        m if m >= 1e6 => format!("{} M", m / 1e6),
        m if m >= 1e3 => format!("{} k", m / 1e3),
        m => format!("{m}"),
    }
}
