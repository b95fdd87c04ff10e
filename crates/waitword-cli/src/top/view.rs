//! The screen of `waitword top`.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Cell, Paragraph, Row, Table, TableState, Wrap};
use waitword_observe::{Finding, Holder, Lock, short_duration};

use super::state::{Order, State, longest};

pub(super) fn draw(frame: &mut Frame<'_>, state: &mut State) {
    let faults: Vec<String> =
        state.report.findings.iter().filter(|finding| finding.is_fault()).map(text_of).collect();
    let screen = frame.area();
    let high = lines(&faults, screen.width).min(screen.height / 3);
    let rows = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(high),
        Constraint::Min(0),
        Constraint::Length(1),
    ]);
    let [head, found, body, foot] = rows.areas(screen);
    frame.render_widget(Line::from(title(state)).style(Modifier::BOLD), head);
    let reversed = Style::new().add_modifier(Modifier::REVERSED);
    frame.render_widget(Paragraph::new(keys(state)).style(reversed), foot);
    if high > 0 {
        let block = Block::new().borders(Borders::TOP).title(count(faults.len(), "fault"));
        frame.render_widget(Paragraph::new(faults.join("\n")).wrap(Wrap { trim: false }).block(block), found);
    }
    match state.is_detailed {
        true => draw_details(frame, state, body),
        false => draw_locks(frame, state, body),
    }
}

/// A table stays one; other text is broken anew, where this screen ends.
fn text_of(finding: &Finding) -> String {
    match finding {
        Finding::Cycle(_) | Finding::PotentialDeadlock(_) => finding.to_string(),
        _ => finding.to_string().replace("\n  ", " "),
    }
}

/// How many lines the faults take, with the one above them. At least: words are not broken.
fn lines(faults: &[String], columns: u16) -> u16 {
    let of_line = |line: &str| line.chars().count().div_ceil(usize::from(columns.max(1))).max(1);
    let lines: usize = faults.iter().flat_map(|fault| fault.lines()).map(of_line).sum();
    if faults.is_empty() { 0 } else { u16::try_from(lines + 2).unwrap_or(u16::MAX) }
}

fn count(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn title(state: &State) -> String {
    let report = &state.report;
    // A name comes from a program, and could move the cursor.
    let program: String = report.process.program.as_deref().unwrap_or("unknown").escape_debug().collect();
    let snapshot = &report.snapshot;
    let [waiters, locks] = [count(snapshot.waiters(), "waiter"), count(snapshot.locks.len(), "lock")];
    let holders = if snapshot.holders.is_none() { ", holders not recorded" } else { "" };
    format!("{program} (process {}): {waiters} at {locks}{holders}", report.process.id)
}

/// The last line: what is the matter, or the keys.
fn keys(state: &State) -> String {
    if let Some(error) = &state.error {
        return format!("q quit  {error} (this is the last report)");
    }
    let order = match state.order {
        Order::Waiters => "waiters",
        Order::Longest => "longest wait",
        Order::Name => "name",
    };
    let enter = if state.is_detailed { "back" } else { "details" };
    let pause = if state.is_paused { "PAUSED, p go on" } else { "p pause" };
    format!("q quit  s sort: {order}  {pause}  enter {enter}  up/down")
}

fn draw_locks(frame: &mut Frame<'_>, state: &State, area: Rect) {
    let locks = state.locks();
    let header = Row::new(["WAITERS", "LONGEST", "LOCK", "HELD BY"]).style(Modifier::UNDERLINED);
    let right = |text: String| Cell::from(Line::from(text).alignment(Alignment::Right));
    let rows = locks.iter().map(|lock| {
        Row::new([
            right(lock.waiting().to_string()),
            right(longest(lock).map_or_else(|| "-".to_owned(), short_duration)),
            Cell::from(lock.name.to_string()),
            Cell::from(held_by(state, lock)),
        ])
    });
    let widths = [Constraint::Length(7), Constraint::Length(7), Constraint::Fill(1), Constraint::Fill(1)];
    let table = Table::new(rows, widths).header(header).row_highlight_style(Modifier::REVERSED);
    let mut chosen = TableState::new().with_selected(state.chosen());
    frame.render_stateful_widget(table, area, &mut chosen);
}

/// The holder, or how many there are.
fn held_by(state: &State, lock: &Lock) -> String {
    let holders: Vec<&Holder> = state.report.snapshot.holders_of(lock.name.address).collect();
    let [holder] = holders[..] else {
        return if holders.is_empty() { "-".to_owned() } else { format!("{} holders", holders.len()) };
    };
    let held = holder.held.map(|held| format!(", {}", short_duration(held))).unwrap_or_default();
    let site = holder.site.as_ref().map(|site| format!(" {site}")).unwrap_or_default();
    format!("{}{held}{site}", holder.actor)
}

fn draw_details(frame: &mut Frame<'_>, state: &mut State, area: Rect) {
    let locks = state.locks();
    let Some(lock) = state.chosen().map(|chosen| locks[chosen]) else {
        state.is_detailed = false;
        return;
    };
    let text = state.report.snapshot.describe(lock, usize::from(u16::MAX));
    let lines = u16::try_from(text.lines().count()).unwrap_or(u16::MAX);
    // The last line stays in sight.
    state.scroll = state.scroll.min(lines.saturating_sub(1));
    let block = Block::new().borders(Borders::TOP).title("details");
    let paragraph = Paragraph::new(text).block(block).wrap(Wrap { trim: false });
    frame.render_widget(paragraph.scroll((state.scroll, 0)), area);
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
