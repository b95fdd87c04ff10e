//! URLs and UTF-8 by the WHATWG's standards, and files of source text.

use std::borrow::Cow;
use std::path::Path;

use url::{Url, quirks};
use waitword_quickjs::{Exception, Realm, Value};

use crate::agent_host::{Caller, error_with_code};
use crate::path_text::text_of;
use crate::source_file;
use crate::source_text::SourceText;
use crate::sources;
use crate::worker_options::EVAL;

/// `parseUrl(reference, base)`: returns the parts of a URL, in the order of [`parts`], or undefined if it is not valid. `base` may be undefined.
pub(super) fn parse_url(_: Caller<'_>, reference: String, base: Option<String>) -> Option<Vec<String>> {
    let url = match base {
        None => Url::parse(&reference),
        Some(base) => Url::parse(&base).and_then(|base| base.join(&reference)),
    };
    url.ok().map(|url| parts(&url))
}

/// `setUrl(href, part, value)`: sets a part of a URL and returns all parts. An invalid value changes nothing.
pub(super) fn set_url(
    by: Caller<'_>,
    href: String,
    part: String,
    value: String,
) -> Result<Vec<String>, Exception> {
    let Ok(mut url) = Url::parse(&href) else { return Err(by.realm.error("not a valid URL")) };
    // Ignored: an invalid value leaves the URL unchanged.
    let _ = match &*part {
        "protocol" => quirks::set_protocol(&mut url, &value),
        "username" => quirks::set_username(&mut url, &value),
        "password" => quirks::set_password(&mut url, &value),
        "host" => quirks::set_host(&mut url, &value),
        "hostname" => quirks::set_hostname(&mut url, &value),
        "port" => quirks::set_port(&mut url, &value),
        "pathname" => {
            quirks::set_pathname(&mut url, &value);
            Ok(())
        }
        "search" => {
            quirks::set_search(&mut url, &value);
            Ok(())
        }
        "hash" => {
            quirks::set_hash(&mut url, &value);
            Ok(())
        }
        other => return Err(by.realm.error(&format!("a URL has no settable part {other}"))),
    };
    Ok(parts(&url))
}

/// `js/web/url.js` has the same order.
fn parts(url: &Url) -> Vec<String> {
    let origin = quirks::origin(url);
    let parts = [
        quirks::href(url),
        &origin,
        quirks::protocol(url),
        quirks::username(url),
        quirks::password(url),
        quirks::host(url),
        quirks::hostname(url),
        quirks::port(url),
        quirks::pathname(url),
        quirks::search(url),
        quirks::hash(url),
    ];
    parts.map(str::to_owned).into()
}

/// `decodeUtf8(buffer, isFatal)`: returns the text in an ArrayBuffer, or undefined if `isFatal` and it is not UTF-8.
pub(super) fn decode_utf8(
    by: Caller<'_>,
    buffer: Value,
    is_fatal: bool,
) -> Result<Option<String>, Exception> {
    let mut bytes = Vec::new();
    by.realm.copy_array_buffer(&buffer, by.realm.buffer_byte_length(&buffer)?, &mut bytes)?;
    Ok(match String::from_utf8_lossy(&bytes) {
        // The text was not UTF-8, so something was replaced.
        Cow::Owned(_) if is_fatal => None,
        text => Some(text.into_owned()),
    })
}

/// `isUtf8(label)`: returns whether a label means this encoding.
pub(super) fn is_utf8(_: Caller<'_>, label: String) -> bool {
    let names = ["utf-8", "utf8", "unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "x-unicode20utf8"];
    names.contains(&&*label.trim().to_lowercase())
}

/// `cwd()`
pub(super) fn cwd(by: Caller<'_>) -> Result<String, Exception> {
    let folder = std::env::current_dir();
    folder
        .map(|path| text_of(&path))
        .map_err(|error| by.realm.error(&format!("no current directory: {error}")))
}

/// `resolve(specifier, importer)`: returns the path of a file.
pub(super) fn resolve(by: Caller<'_>, specifier: String, importer: String) -> Result<String, Exception> {
    let path = sources::resolve(&importer, &specifier);
    path.map(|path| text_of(&path)).map_err(|message| error_with_code(by.realm, "MODULE_NOT_FOUND", &message))
}

/// `compileFile(path)`: compiles a CommonJS module into a function.
pub(super) fn compile_file(Caller { host, realm }: Caller<'_>, path: String) -> Result<Value, Exception> {
    let source = read(realm, &path)?;
    sources::compile(host, realm, &path, &source.text)?.ok_or_else(|| {
        let message = format!("{path} is an ES module: use import() instead of require()");
        error_with_code(realm, "ERR_REQUIRE_ESM", &message)
    })
}

/// `runGlobally(isSource, fileOrSource)`: runs a classic script of a page.
pub(super) fn run_globally(by: Caller<'_>, is_source: bool, text: String) -> Result<Value, Exception> {
    if is_source {
        return by.realm.eval(EVAL, &text);
    }
    by.realm.eval(&text, &read(by.realm, &text)?.text)
}

pub(super) fn read(realm: &Realm, path: &str) -> Result<SourceText, Exception> {
    source_file::read(realm, Path::new(path)).map_err(|why| why.into_exception(realm))
}
