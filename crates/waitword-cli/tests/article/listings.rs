//! Takes the listings out of a text of the article: Markdown, in any translation, with the code in blocks fenced as `js`.
//!
//! The article prints the class without the bodies of its methods, and the methods in blocks of their own. The class is put
//! together from these: each method's block takes the place of the elided method, unchanged. What is no class and no method
//! is a program.

/// The listings, as they stand in the text.
#[derive(Debug)]
pub(crate) struct Listings {
    /// The one block that runs by itself.
    pub(crate) demo: String,
    /// The class with its methods.
    pub(crate) class: String,
}

struct Block<'a> {
    /// The line of the text on which the block's first line stands, from 1.
    line: usize,
    lines: Vec<&'a str>,
}

impl Listings {
    /// # Errors
    /// What is wrong with the text, and in which line.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let blocks = blocks(text)?;
        for block in &blocks {
            block.is_intact()?;
        }
        let (classes, rest): (Vec<_>, Vec<_>) = blocks.into_iter().partition(Block::is_class);
        let (methods, programs): (Vec<_>, Vec<_>) = rest.into_iter().partition(Block::is_method);
        let class = one(classes, "class")?;
        let demo = one(programs, "program")?;
        Ok(Self { demo: demo.lines.join("\n"), class: assemble(&class, &methods)? })
    }
}

fn blocks(text: &str) -> Result<Vec<Block<'_>>, String> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((start, line)) = lines.next() {
        if !matches!(line.trim(), "```js" | "```javascript") {
            continue;
        }
        let mut block = Block { line: start + 2, lines: Vec::new() };
        loop {
            match lines.next() {
                Some((_, line)) if line.trim() == "```" => break,
                Some((_, line)) if !line.trim_start().starts_with("```") => block.lines.push(line),
                _ => return Err(format!("line {}: this ```js block has no end", start + 1)),
            }
        }
        blocks.push(block);
    }
    if blocks.is_empty() {
        return Err("no ```js block: the code of this text is not fenced".to_owned());
    }
    Ok(blocks)
}

impl Block<'_> {
    /// A text that went through HTML may have kept entities, which no JavaScript has.
    fn is_intact(&self) -> Result<(), String> {
        for (i, line) in self.lines.iter().enumerate() {
            for entity in ["&apos;", "&quot;", "&lt;", "&gt;", "&amp;", "&#"] {
                if line.contains(entity) {
                    return Err(format!(
                        "line {}: {entity} in a listing: the text is damaged",
                        self.line + i
                    ));
                }
            }
        }
        Ok(())
    }

    fn head(&self) -> &str {
        self.lines.first().map_or("", |line| line.trim())
    }

    fn is_class(&self) -> bool {
        self.head().starts_with("class ")
    }

    /// Whether it begins as a method does: `name(parameters) {`.
    fn is_method(&self) -> bool {
        let name = self.head().strip_suffix(") {").and_then(|head| head.split_once('('));
        name.is_some_and(|(name, _)| !name.is_empty() && name.chars().all(char::is_alphanumeric))
    }
}

fn one<'a>(mut blocks: Vec<Block<'a>>, what: &str) -> Result<Block<'a>, String> {
    match blocks.len() {
        1 => Ok(blocks.remove(0)),
        0 => Err(format!("no ```js block is a {what}")),
        _ => Err(format!("line {}: a second {what}", blocks[1].line)),
    }
}

/// Puts the blocks of the methods in the places of the elided methods.
fn assemble(class: &Block<'_>, methods: &[Block<'_>]) -> Result<String, String> {
    let mut assembled = Vec::new();
    let mut used = 0;
    let mut lines = class.lines.iter().enumerate();
    while let Some((i, line)) = lines.next() {
        if !is_elided(&class.lines[i..]) {
            assembled.push(*line);
            continue;
        }
        let head = line.trim();
        let method = methods.iter().find(|method| method.head() == head);
        let method = method
            .ok_or_else(|| format!("line {}: no ```js block is the method `{head}`", class.line + i))?;
        assembled.extend(&method.lines);
        used += 1;
        lines.nth(1); // the comment and the brace
    }
    match methods.iter().find(|method| !class.lines.iter().any(|line| line.trim() == method.head())) {
        Some(method) => Err(format!("line {}: the class has no method `{}`", method.line, method.head())),
        None if used == 0 => Err(format!("line {}: the class elides no method", class.line)),
        None => Ok(assembled.join("\n")),
    }
}

/// Whether the lines begin with a method whose body is one comment.
fn is_elided(lines: &[&str]) -> bool {
    let [head, body, end, ..] = lines else { return false };
    let body = body.trim();
    head.trim().ends_with(") {") && body.starts_with("/*") && body.ends_with("*/") && end.trim() == "}"
}

/// On a text of ours that has the article's shape.
#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
A program.

```js
demo();
```

A class,

```js
class Door {
  static OPEN = 0;

  enter() {
    /* ... */
  }

  leave(by) {
    /* ... */
  }
}
```

its methods,

```js
enter() {
  return Door.OPEN;
}
```

```js
leave(by) {
  return by;
}
```

and code in no language that is ours:

```sh
leave
```
";

    #[test]
    fn methods_take_the_places_of_the_elided_ones() {
        let listings = Listings::read(TEXT).unwrap();
        assert_eq!(listings.demo, "demo();");
        let class = "\
class Door {
  static OPEN = 0;

enter() {
  return Door.OPEN;
}

leave(by) {
  return by;
}
}";
        assert_eq!(listings.class, class);
    }

    #[test]
    fn a_text_with_other_line_ends_has_the_same_listings() {
        assert_eq!(
            Listings::read(&TEXT.replace('\n', "\r\n")).unwrap().class,
            Listings::read(TEXT).unwrap().class
        );
    }

    #[test]
    fn damaged_texts_are_refused_with_the_line() {
        for (from, to, error) in [
            ("```js", "js", "no ```js block: the code of this text is not fenced"),
            ("demo();\n```\n", "demo();\n", "line 3: this ```js block has no end"),
            ("return by;", "return &apos;by&apos;;", "line 33: &apos; in a listing: the text is damaged"),
            ("```js\nenter() {", "```\nenter() {", "line 13: no ```js block is the method `enter() {`"),
            (
                "leave(by) {\n  return",
                "leave() {\n  return",
                "line 17: no ```js block is the method `leave(by) {`",
            ),
            ("enter() {\n    /* ... */\n  }\n", "", "line 23: the class has no method `enter() {`"),
            ("```js\nclass", "```\nclass", "no ```js block is a class"),
            ("```js\ndemo", "```\ndemo", "no ```js block is a program"),
            ("```sh", "```js", "line 40: a second program"),
        ] {
            assert!(TEXT.contains(from), "{from:?}");
            assert_eq!(Listings::read(&TEXT.replace(from, to)).unwrap_err(), error, "{from:?} as {to:?}");
        }
    }
}
