//! Blob URLs.

use waitword_quickjs::{Call, Exception, Realm, Value};

use crate::agent_host;
use crate::blobs::{Found, OVERHEAD};

/// `keepBlob(text)`: its URL.
pub(crate) fn keep_blob(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let text = realm.to_string(&call.argument(0))?;
    let charge = match realm.memory_budget().map(|budget| budget.charge(text.len() + OVERHEAD)) {
        Some(None) => return Err(realm.range_error("out of memory: there is no room for the text of a Blob")),
        charge => charge.flatten(),
    };
    realm.string(&host.cluster.blobs().keep(host.id, text, charge))
}

/// `findBlob(url)`: its text; null if it was revoked, undefined if it is not known.
pub(crate) fn find_blob(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    match host.cluster.blobs().find(&realm.to_string(&call.argument(0))?) {
        Found::Text(text) => realm.string(&text),
        Found::Revoked => Ok(realm.null()),
        Found::Unknown => Ok(realm.undefined()),
    }
}

/// `revokeBlob(url)`
pub(crate) fn revoke_blob(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    host.cluster.blobs().revoke(&realm.to_string(&call.argument(0))?);
    Ok(realm.undefined())
}
