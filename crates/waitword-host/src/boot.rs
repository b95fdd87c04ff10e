//! How an agent gets its JavaScript half.

use waitword_quickjs::{Exception, Realm};

use crate::agent_host::Host;
use crate::worker_options::Data;
use crate::{natives, options, parts};

/// Runs the JavaScript half in a realm: the globals of the scripts. The memory that this takes is the host's, not theirs.
///
/// # Errors
/// Lack of memory for `workerData`.
pub(crate) fn boot(host: &Host, realm: &Realm, data: Data) -> Result<(), Exception> {
    realm.beyond_memory_limit(|| {
        let script = realm.object()?;
        realm.set(&script, "native", &natives::object(realm)?)?;
        realm.set(&script, "options", &options::object(host, realm, data)?)?;
        parts::run_all(realm, host.set_script(script))
    })
}
