//! Screens, of recorded reports.

use termion::event::Key;
use unicode_width::UnicodeWidthStr;
use waitword_observe::Report;

use super::{State, draw};

/// The report of a program with a deadlock, a lock of scripts whose holder has ended, and a long queue.
const RECORDED: &str = include_str!("recorded.json");

fn recorded() -> State {
    State::new(Report::from_json(RECORDED).unwrap())
}

fn screen(state: &mut State, size: (u16, u16)) -> String {
    draw(state, size).iter().map(|line| line.text.trim_end().to_owned() + "\n").collect()
}

fn press(state: &mut State, keys: &[Key]) {
    keys.iter().for_each(|key| state.press(*key));
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
    is_as_recorded("locks_80x24", &screen(&mut recorded(), (80, 24)));
    is_as_recorded("locks_132x30", &screen(&mut recorded(), (132, 30)));
}

#[test]
fn a_lock_is_shown_with_its_holder_and_its_queue() {
    let mut state = recorded();
    press(&mut state, &[Key::Down, Key::Char('\n')]);
    is_as_recorded("details_80x24", &screen(&mut state, (80, 24)));
    press(&mut state, &[Key::Esc]);
    assert!(!state.is_detailed && !state.is_over);
}

#[test]
fn keys_sort_choose_pause_and_quit() {
    let mut state = recorded();
    let first = |state: &State| state.locks()[0].name.to_string();
    let by_waiters = first(&state);
    press(&mut state, &[Key::Char('s'), Key::Char('s')]);
    let mut names: Vec<String> = state.locks().iter().map(|lock| lock.name.to_string()).collect();
    assert!(names.is_sorted() && names.len() > 2, "{names:?}");
    press(&mut state, &[Key::Down; 9]);
    assert_eq!(state.chosen(), Some(names.len() - 1));
    press(&mut state, &[Key::Char('s'), Key::Up]);
    assert_eq!(first(&state), by_waiters);

    press(&mut state, &[Key::Char('p')]);
    let mut empty = state.report.clone();
    empty.snapshot.locks.clear();
    state.update(Ok(empty.clone()));
    assert_eq!(state.locks().len(), names.len());
    press(&mut state, &[Key::Char(' ')]);
    state.update(Ok(empty));
    assert_eq!((state.locks().len(), state.chosen()), (0, None));
    names.clear();
    press(&mut state, &[Key::Char('\n'), Key::Down, Key::Char('q')]);
    assert!(state.is_over);
}

#[test]
fn the_last_report_stays_when_the_program_has_ended() {
    let mut state = recorded();
    state.update(Err("connection refused: the program has ended".to_owned()));
    let shown = screen(&mut state, (80, 24));
    let last = "q quit  connection refused: the program has ended (this is the last report)\n";
    assert!(shown.ends_with(last), "{shown}");
    assert!(shown.contains("LONGEST"));
}

/// It comes from a program.
#[test]
fn a_name_moves_no_cursor_and_is_broken_where_the_screen_ends() {
    let mut state = recorded();
    state.report.snapshot.locks[0].name.name = Some(format!("\u{1b}[2J{}", "工".repeat(50)));
    for keys in [&[][..], &[Key::Char('\n')]] {
        press(&mut state, keys);
        let lines = draw(&mut state, (40, 30));
        assert!(lines.iter().all(|line| line.text.width() == 40 && !line.text.contains(char::is_control)));
    }
}

#[test]
fn no_size_is_too_small() {
    let mut state = recorded();
    for size in [(0, 0), (1, 1), (3, 2), (20, 5), (80, 6)] {
        screen(&mut state, size);
        press(&mut state, &[Key::Char('\n')]);
    }
}
