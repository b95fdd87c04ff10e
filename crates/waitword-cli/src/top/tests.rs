//! Screens, of recorded reports.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use waitword_observe::Report;

use super::{State, draw};

/// The report of a program with a deadlock, a lock of scripts whose holder has ended, and a long queue.
const RECORDED: &str = include_str!("recorded.json");

fn recorded() -> State {
    State::new(Report::from_json(RECORDED).unwrap())
}

fn screen(state: &mut State, [columns, rows]: [u16; 2]) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| draw(frame, state)).unwrap();
    let buffer = terminal.backend().buffer().clone();
    let line = |row: u16| -> String { (0..columns).map(|column| buffer[(column, row)].symbol()).collect() };
    (0..rows).map(|row| line(row).trim_end().to_owned() + "\n").collect()
}

fn press(state: &mut State, keys: &[KeyCode]) {
    keys.iter().for_each(|key| state.press(KeyEvent::from(*key)));
}

/// Compares with a file of `screens/`; writes it anew if `WAITWORD_BLESS` is set.
#[track_caller]
fn is_as_recorded(name: &str, screen: &str) {
    let path = format!("{}/src/top/screens/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("WAITWORD_BLESS").is_some() {
        std::fs::write(&path, screen).unwrap();
    }
    assert_eq!(screen, std::fs::read_to_string(&path).unwrap());
}

#[test]
fn the_most_contended_lock_comes_first_below_what_is_wrong() {
    is_as_recorded("locks_80x24", &screen(&mut recorded(), [80, 24]));
    is_as_recorded("locks_132x30", &screen(&mut recorded(), [132, 30]));
}

#[test]
fn a_lock_is_shown_with_its_holder_and_its_queue() {
    let mut state = recorded();
    press(&mut state, &[KeyCode::Down, KeyCode::Enter]);
    is_as_recorded("details_80x24", &screen(&mut state, [80, 24]));
    press(&mut state, &[KeyCode::Esc]);
    assert!(!state.is_detailed && !state.is_over);
}

#[test]
fn keys_sort_choose_pause_and_quit() {
    let mut state = recorded();
    let first = |state: &State| state.locks()[0].name.to_string();
    let by_waiters = first(&state);
    press(&mut state, &[KeyCode::Char('s'), KeyCode::Char('s')]);
    let mut names: Vec<String> = state.locks().iter().map(|lock| lock.name.to_string()).collect();
    assert!(names.is_sorted() && names.len() > 2, "{names:?}");
    press(&mut state, &[KeyCode::Down; 9]);
    assert_eq!(state.chosen(), Some(names.len() - 1));
    press(&mut state, &[KeyCode::Char('s'), KeyCode::Up]);
    assert_eq!(first(&state), by_waiters);

    press(&mut state, &[KeyCode::Char('p')]);
    let mut empty = state.report.clone();
    empty.snapshot.locks.clear();
    state.update(Ok(empty.clone()));
    assert_eq!(state.locks().len(), names.len());
    press(&mut state, &[KeyCode::Char(' ')]);
    state.update(Ok(empty));
    assert_eq!((state.locks().len(), state.chosen()), (0, None));
    names.clear();
    press(&mut state, &[KeyCode::Enter, KeyCode::Down, KeyCode::Char('q')]);
    assert!(state.is_over);
}

#[test]
fn the_last_report_stays_when_the_program_has_ended() {
    let mut state = recorded();
    state.update(Err("nobody listens there: the program has ended".to_owned()));
    let shown = screen(&mut state, [80, 24]);
    let last = "q quit  nobody listens there: the program has ended (this is the last report)\n";
    assert!(shown.ends_with(last), "{shown}");
    assert!(shown.contains("LONGEST"));
}

#[test]
fn no_size_is_too_small() {
    let mut state = recorded();
    for size in [[1, 1], [3, 2], [20, 5], [80, 6]] {
        screen(&mut state, size);
        press(&mut state, &[KeyCode::Enter]);
    }
}
