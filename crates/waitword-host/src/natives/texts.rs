//! URLs and UTF-8, as the WHATWG's standards have them.

use std::borrow::Cow;

use url::{Url, quirks};
use waitword_quickjs::{Call, Exception, Realm, Value};

use crate::file_url;

/// `parseUrl(reference, base)`: the parts of a URL, in the order of [`parts`]; undefined if it is none. `base` may be undefined.
pub(crate) fn parse_url(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let reference = realm.to_string(&call.argument(0))?;
    let base = call.argument(1);
    let url = match base.is_undefined() {
        true => Url::parse(&reference),
        false => Url::parse(&realm.to_string(&base)?).and_then(|base| base.join(&reference)),
    };
    url.map_or_else(|_| Ok(realm.undefined()), |url| parts(realm, &url))
}

/// `setUrl(href, part, value)`: the parts of the URL after one of them was given a value; what the URL cannot have changes nothing.
pub(crate) fn set_url(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let [href, part, value] = [0, 1, 2].map(|at| realm.to_string(&call.argument(at)));
    let (href, part, value) = (href?, part?, value?);
    let Ok(mut url) = Url::parse(&href) else { return Err(realm.error("this is no URL")) };
    // A refusal is none for the script: the URL stays as it is.
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
        other => return Err(realm.error(&format!("a URL has no part {other} to set"))),
    };
    parts(realm, &url)
}

/// `js/web/url.js` has the same order.
fn parts(realm: &Realm, url: &Url) -> Result<Value, Exception> {
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
    let values = parts.into_iter().map(|part| realm.string(part)).collect::<Result<Vec<_>, _>>()?;
    realm.array(&values)
}

/// `fileUrl(path)`: the URL of a file whose absolute path is given.
pub(crate) fn file_url(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    realm.string(&file_url::of(&realm.to_string(&call.argument(0))?))
}

/// `encodeUtf8(string)`: an ArrayBuffer.
pub(crate) fn encode_utf8(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    realm.array_buffer(realm.to_string(&call.argument(0))?.as_bytes())
}

/// `decodeUtf8(buffer, isFatal)`: the text in an ArrayBuffer; undefined if there is none and that is fatal.
pub(crate) fn decode_utf8(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let buffer = call.argument(0);
    let mut bytes = Vec::new();
    realm.copy_array_buffer(&buffer, realm.buffer_byte_length(&buffer)?, &mut bytes)?;
    match String::from_utf8_lossy(&bytes) {
        // It was not UTF-8, so something has been replaced.
        Cow::Owned(_) if realm.to_bool(&call.argument(1)) => Ok(realm.undefined()),
        text => realm.string(&text),
    }
}

/// `isUtf8(label)`: whether a label means this encoding.
pub(crate) fn is_utf8(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let label = realm.to_string(&call.argument(0))?.trim().to_lowercase();
    let names = ["utf-8", "utf8", "unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "x-unicode20utf8"];
    Ok(realm.bool(names.contains(&&*label)))
}
