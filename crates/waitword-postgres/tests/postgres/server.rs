//! A PostgreSQL of the tests' own, in a temporary folder. It stops, and the folder goes, when the tests end or are killed.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use waitword_postgres::Config;

use crate::skip::skip;

/// What takes longer hangs.
pub(crate) const LIMIT: Duration = Duration::from_secs(90);

/// PostgreSQL refuses to run as root. This is `nobody`.
const UNPRIVILEGED: u32 = 65534;

/// The files of a server that has not started yet.
const UNUSED: &str = "unused";

pub(crate) struct Server {
    programs: PathBuf,
    pub(crate) folder: PathBuf,
    is_root: bool,
    pub(crate) port: u16,
    /// Ends when its standard input does, which a killed test's does, too.
    stop: Option<Child>,
}

/// A database without tables.
#[derive(Clone)]
pub(crate) struct Database {
    pub(crate) server: Arc<Server>,
    name: String,
}

impl Database {
    /// In the server of all tests. `None` where PostgreSQL is not installed, which is said aloud.
    pub(crate) fn new() -> Option<Self> {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let server = Arc::clone(Server::of_all()?);
        let name = format!("test_{}", LAST.fetch_add(1, Ordering::Relaxed));
        server.sql(&format!("CREATE DATABASE {name}"));
        Some(Self { server, name })
    }

    /// In a server of its own, which the test may kill and start anew.
    pub(crate) fn alone() -> Option<Self> {
        let server = Server::start(Some(Server::of_all()?))?;
        Some(Self { server: Arc::new(server), name: "postgres".to_owned() })
    }

    /// Through the server's socket.
    pub(crate) fn address(&self) -> String {
        let Server { folder, port, .. } = &*self.server;
        format!("host={} port={port} user=tester connect_timeout=60 dbname={}", folder.display(), self.name)
    }

    /// Through TCP, to `port` of this machine.
    pub(crate) fn address_at(&self, port: u16) -> String {
        let host = "host=localhost hostaddr=127.0.0.1";
        format!("{host} port={port} user=tester connect_timeout=60 dbname={}", self.name)
    }

    pub(crate) fn config(&self) -> Config {
        patient(&self.address())
    }

    pub(crate) fn config_at(&self, port: u16) -> Config {
        patient(&self.address_at(port))
    }
}

/// Nobody loses a lock because the machine is slow.
pub(crate) fn patient(address: &str) -> Config {
    address.parse::<Config>().unwrap().answer_limit(LIMIT).reconnect_limit(LIMIT)
}

impl Server {
    /// The server of all tests, which stays until they end.
    fn of_all() -> Option<&'static Arc<Self>> {
        static SERVER: OnceLock<Option<Arc<Server>>> = OnceLock::new();
        SERVER.get_or_init(|| Self::start(None).map(Arc::new)).as_ref()
    }

    fn start(like: Option<&Self>) -> Option<Self> {
        let Some(programs) = programs() else {
            let why = "there is no PostgreSQL here; to get it: apt-get install postgresql";
            skip("the tests of waitword-postgres", why);
            return None;
        };
        let folder = tempfile::tempdir().unwrap().keep();
        let is_root = fs::metadata(&folder).unwrap().uid() == 0;
        // For clients of other users, and the server itself.
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        if is_root {
            chown(&folder, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut server = Self { programs, folder, is_root, port, stop: None };
        let mut stop = server.command(
            Path::new("sh"),
            &["-c", "read end; \"$0\" stop --mode=immediate; cd / && rm -rf \"${PGDATA%/data}\""],
        );
        stop.arg(server.programs.join("pg_ctl")).stdin(Stdio::piped()).stderr(Stdio::null());
        server.stop = Some(stop.spawn().unwrap());
        server.initialize(like);
        server.certify();
        server.begin();
        Some(server)
    }

    /// Makes the server's files, or copies those of another, who keeps a copy for this.
    fn initialize(&self, like: Option<&Self>) {
        let copy = |from: PathBuf, to: &str| {
            let copied = self.command(Path::new("cp"), &["-R"]).arg(from).arg(self.folder.join(to)).status();
            assert!(copied.unwrap().success());
        };
        match like {
            Some(like) => copy(like.folder.join(UNUSED), "data"),
            None => {
                self.run("initdb", &["--username=tester", "--auth=trust", "--locale=C", "--no-sync"]);
                copy(self.folder.join("data"), UNUSED);
            }
        }
    }

    /// What is measured is the lock, not the disk; a minimal log makes new databases in a third of the time. Where there is a certificate, with TLS.
    fn begin(&self) {
        let ssl = if self.certificate().exists() { "on" } else { "off" };
        let options = format!(
            "-c listen_addresses=127.0.0.1 -c port={} -c unix_socket_directories={} -c max_connections=250 -c fsync=off
             -c wal_level=minimal -c max_wal_senders=0 -c ssl={ssl} -c ssl_cert_file={} -c ssl_key_file={}",
            self.port,
            self.folder.display(),
            self.certificate().display(),
            self.folder.join("key.pem").display(),
        );
        self.run("pg_ctl", &["start", "--wait", "--log=log", "--options", &options.replace('\n', " ")]);
    }

    pub(crate) fn restart(&self) {
        self.run("pg_ctl", &["stop", "--wait", "--mode=immediate"]);
        self.begin();
    }

    /// Of `localhost`, signed by itself.
    pub(crate) fn certificate(&self) -> PathBuf {
        self.folder.join("certificate.pem")
    }

    fn certify(&self) {
        let made = self
            .command(
                Path::new("openssl"),
                &["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
            )
            .args(["-nodes", "-keyout", "key.pem", "-out", "certificate.pem", "-subj", "/CN=localhost"])
            .args([
                "-addext",
                "subjectAltName=DNS:localhost",
                "-addext",
                "basicConstraints=critical,CA:FALSE",
            ])
            .stderr(Stdio::null())
            .status();
        if !made.is_ok_and(|status| status.success()) {
            skip("TLS of waitword-postgres", "there is no openssl here; to get it: apt-get install openssl");
        }
    }

    pub(crate) fn sql(&self, text: &str) {
        let (folder, port) = (self.folder.to_str().unwrap(), self.port.to_string());
        let to = ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", folder, "-p", &port, "-U", "tester", "-c", text];
        let mut psql = self.command(Path::new("psql"), &to);
        assert!(psql.arg("postgres").status().unwrap().success(), "{text}");
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let status = self.command(&self.programs.join(program), arguments).status().unwrap();
        assert!(status.success(), "{program} {arguments:?}: {status}");
    }

    /// Of the server's user, in its folder.
    pub(crate) fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder).env("PGDATA", self.folder.join("data"));
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
