//! PgBouncer in front of the tests' server.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::LIMIT;
use crate::server::Database;
use crate::skip::skip;

/// A pooler of the test's own, which ends with it. `None` where PgBouncer is not installed, which is said aloud.
pub(crate) struct Pooler {
    pub(crate) port: u16,
    child: Child,
    _folder: TempDir,
}

impl Pooler {
    /// Returns when it accepts connections.
    pub(crate) fn start(database: &Database, mode: &str) -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (server, folder) = (&database.server, tempfile::tempdir().unwrap());
        let settings = format!(
            "[databases]\n* = host={} port={} user=tester\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             auth_type = any\nunix_socket_dir =\npool_mode = {mode}\n\
             ignore_startup_parameters = extra_float_digits\n",
            server.folder.display(),
            server.port
        );
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let file = folder.path().join("settings");
        fs::write(&file, settings).unwrap();
        let child =
            server.command(Path::new("pgbouncer"), &[file.to_str().unwrap()]).stderr(Stdio::null()).spawn();
        if child.is_err() {
            skip(
                "waitword-postgres behind PgBouncer",
                "there is none here; to get it: apt-get install pgbouncer",
            );
        }
        let pooler = Self { port, child: child.ok()?, _folder: folder };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(start.elapsed() < LIMIT, "PgBouncer does not start");
            thread::sleep(Duration::from_millis(5));
        }
        Some(pooler)
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
