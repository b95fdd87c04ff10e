//! The code spans and the links of a page, outside of its code blocks.

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// From 1.
    pub(super) line: usize,
    pub(super) what: What,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Between backticks.
    Code(String),
    /// What a link or a picture leads to.
    Link(String),
}

pub(super) fn spans(page: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut fence = None;
    for (index, line) in page.lines().enumerate() {
        let trimmed = line.trim_start();
        let ticks = trimmed.len() - trimmed.trim_start_matches('`').len();
        match fence {
            Some(length) if ticks >= length && trimmed.trim_end().len() == ticks => fence = None,
            Some(_) => {}
            None if ticks >= 3 => fence = Some(ticks),
            None => spans.extend(of_line(line).into_iter().map(|what| Span { line: index + 1, what })),
        }
    }
    spans
}

fn of_line(line: &str) -> Vec<What> {
    let mut found = Vec::new();
    let mut outside = String::new();
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        outside.push_str(&rest[..start]);
        let after = &rest[start..];
        let ticks = after.len() - after.trim_start_matches('`').len();
        let (mark, inner) = after.split_at(ticks);
        // A span that goes on in the next line has no names: nobody breaks these.
        let Some(end) = inner.find(mark) else { break };
        found.push(What::Code(inner[..end].trim().to_owned()));
        rest = &inner[end + ticks..];
    }
    outside.push_str(rest);
    // Also where the text of the link is code.
    let targets = outside.split("](").skip(1).filter_map(|target| target.split([')', ' ']).next());
    found.extend(targets.map(|target| What::Link(target.to_owned())));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_links_are_found_outside_of_blocks() {
        let page = "A `name` and [`code`](docs/page.md#part), ![a picture](one.svg)\n\n```sh\n`no` [no](no)\n```\n``a ` b``";
        let code = |line, text: &str| Span { line, what: What::Code(text.to_owned()) };
        let link = |line, text: &str| Span { line, what: What::Link(text.to_owned()) };
        let expected = [
            code(1, "name"),
            code(1, "code"),
            link(1, "docs/page.md#part"),
            link(1, "one.svg"),
            code(6, "a ` b"),
        ];
        assert_eq!(spans(page), expected);
    }
}
