//! A PostgreSQL of a test's own, in a temporary folder, without a port. Gone when it is dropped, and when the test is killed.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use tokio_postgres::Config;

use crate::skip::skip;

/// PostgreSQL refuses to run as root. This is `nobody`.
const UNPRIVILEGED: u32 = 65534;

pub(crate) struct Server {
    programs: PathBuf,
    folder: TempDir,
    is_root: bool,
    /// Stops the server when its standard input ends, which a killed test's does, too.
    stop: Option<Child>,
}

impl Server {
    /// `None` where PostgreSQL is not installed, which is said aloud.
    pub(crate) fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            let why = "there is no PostgreSQL here; to get it: apt-get install postgresql";
            skip("the tests of the example many_machines", why);
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let is_root = fs::metadata(folder.path()).unwrap().uid() == 0;
        if is_root {
            chown(folder.path(), Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
        }
        let mut server = Self { programs, folder, is_root, stop: None };
        server.run("initdb", &["--username=tester", "--auth=trust", "--locale=C", "--no-sync"]);
        // What is measured is the lock, not the disk.
        let options = format!(
            "-c listen_addresses= -c unix_socket_directories={} -c max_connections=250 -c fsync=off",
            server.folder.path().display()
        );
        server.run("pg_ctl", &["start", "--wait", "--log=log", "--options", &options]);
        let mut stop =
            server.command(Path::new("sh"), &["-c", "read end; exec \"$0\" stop --mode=immediate"]);
        stop.arg(server.programs.join("pg_ctl")).stdin(Stdio::piped());
        server.stop = Some(stop.spawn().unwrap());
        Some(server)
    }

    /// What a client needs to connect.
    pub(crate) fn address(&self) -> String {
        format!("host={} user=tester dbname=postgres", self.folder.path().display())
    }

    pub(crate) fn config(&self) -> Config {
        self.address().parse().unwrap()
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let status = self.command(&self.programs.join(program), arguments).status().unwrap();
        assert!(status.success(), "{program} {arguments:?}: {status}");
    }

    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("PGDATA", self.folder.path().join("data"));
        if self.is_root {
            command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
        }
        // The server would keep a pipe open that somebody reads to its end.
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut stop) = self.stop.take() {
            drop(stop.stdin.take());
            // The folder goes after it.
            let _ = stop.wait();
        }
    }
}

/// Where `initdb` and `pg_ctl` are. Debian has them outside of `PATH`.
fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let folders = std::env::split_paths(&path).chain(debian.map(|version| version.path().join("bin")));
    let has_both =
        |folder: &PathBuf| ["initdb", "pg_ctl"].iter().all(|name| Path::new(folder).join(name).is_file());
    folders.into_iter().find(has_both)
}
