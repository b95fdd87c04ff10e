//! Takes the listings out of a text of the article: Markdown, in any translation, with the code in blocks fenced as `js`.
//!
//! The article prints the class without the bodies of its methods, and the methods in blocks of their own. The class is put
//! together from these: each method's block takes the place of the elided method, unchanged. What is no class and no method
//! is a program.

/// The listings, as they stand in the text.
pub(crate) struct Listings {
    /// The one block that runs by itself.
    pub(crate) demo: String,
    /// The class with its methods.
    pub(crate) class: String,
}

/// The lines of a listing.
type Block<'a> = Vec<&'a str>;

impl Listings {
    /// # Panics
    /// If the text has another number of classes or programs, a method that is not the class's, or a block without an end.
    pub(crate) fn read(text: &str) -> Self {
        let mut blocks: Vec<Block<'_>> = Vec::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if matches!(line.trim(), "```js" | "```javascript") {
                let mut has_end = false;
                let is_inside = |line: &&str| {
                    has_end = line.trim() == "```";
                    !has_end
                };
                blocks.push(lines.by_ref().take_while(is_inside).collect());
                assert!(has_end, "a block has no end: {line}");
            }
        }
        // A text that went through HTML may have kept entities, which no JavaScript has.
        let damaged = |line: &&&str| {
            ["&apos;", "&quot;", "&lt;", "&gt;", "&amp;", "&#"].iter().any(|it| line.contains(it))
        };
        assert_eq!(blocks.iter().flatten().find(damaged), None, "the text is damaged");
        let (classes, rest): (Vec<_>, Vec<_>) =
            blocks.into_iter().partition(|block| head(block).starts_with("class "));
        let (methods, programs): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|block| is_method(head(block)));
        let ([class], [demo]) = (&classes[..], &programs[..]) else {
            panic!("there is to be one class, and one program: {classes:#?} {programs:#?}")
        };
        Self { demo: demo.join("\n"), class: assemble(class, &methods) }
    }
}

fn head<'a>(block: &[&'a str]) -> &'a str {
    block.first().map_or("", |line| line.trim())
}

/// Whether a block begins as a method does: `name(parameters) {`.
fn is_method(head: &str) -> bool {
    let name = head.strip_suffix(") {").and_then(|head| head.split_once('('));
    name.is_some_and(|(name, _)| !name.is_empty() && name.chars().all(char::is_alphanumeric))
}

/// Puts the blocks of the methods in the places of the elided methods, whose bodies are one comment.
fn assemble(class: &[&str], methods: &[Block<'_>]) -> String {
    let is_elided = |body: &str, end: &str| {
        body.trim().starts_with("/*") && body.trim().ends_with("*/") && end.trim() == "}"
    };
    let elided = class.windows(2).filter(|pair| is_elided(pair[0], pair[1])).count();
    assert!(elided > 0 && elided == methods.len(), "each elided method has a block: {class:#?}");
    let mut class = class.to_vec();
    for method in methods {
        let at = class.iter().position(|line| line.trim() == head(method));
        let at = at.unwrap_or_else(|| panic!("the class has no {:?}", head(method)));
        assert!(is_elided(class[at + 1], class[at + 2]), "{:?} is not elided", head(method));
        class.splice(at..at + 3, method.iter().copied());
    }
    class.join("\n")
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
        let listings = Listings::read(TEXT);
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
}
