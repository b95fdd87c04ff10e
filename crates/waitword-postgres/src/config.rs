//! The configuration: the database's address, and time limits.

use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::str::FromStr;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

#[cfg(feature = "tls")]
use rustls::{ClientConfig, RootCertStore};
use tokio::time::timeout;
use tokio_postgres::config::{Host, LoadBalanceHosts, TargetSessionAttrs};
#[cfg(feature = "tls")]
pub(crate) use tokio_postgres_rustls::MakeRustlsConnect as Connector;

use crate::error::{Error, Lost};

/// The longest name of a lock, with its namespace, in bytes.
const LONGEST: usize = 255;

/// The maximum of each time limit, so that adding it to the current time cannot overflow.
pub(crate) const FOR_EVER: Duration = Duration::from_secs(30 * 24 * 60 * 60);

#[cfg(not(feature = "tls"))]
pub(crate) type Connector = tokio_postgres::NoTls;

pub(crate) type OnLost = Arc<dyn Fn(&Lost) + Send + Sync>;

/// The configuration of a [`Cluster`](crate::Cluster): the database's address, and time limits of at most 30 days each.
///
/// ```
/// use std::time::{Duration, Instant};
/// use waitword_postgres::Config;
///
/// let config: Config = "postgresql://app@db.example/shop?sslmode=require".parse()?;
/// let config = config.namespace("shop").tenure(Duration::from_millis(50));
/// # Ok::<(), waitword_postgres::Error>(())
/// ```
#[derive(Clone)]
pub struct Config {
    pub(crate) postgres: tokio_postgres::Config,
    /// Created on first use, unless [`tls`](Self::tls) has set it.
    connector: OnceLock<Connector>,
    namespace: String,
    pub(crate) process: Arc<str>,
    pub(crate) tenure: Duration,
    pub(crate) answer_limit: Duration,
    pub(crate) reconnect_limit: Duration,
    pub(crate) on_lost: Option<OnLost>,
}

impl Config {
    /// Sets a namespace, which is put with a slash before the name of each lock and lease: in `shop`, the lock `stock` is `shop/stock`. The default
    /// is no namespace.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets the name of this process in [`Cluster::queue`](crate::Cluster::queue). The default is the program's file name and the process id.
    pub fn process(mut self, process: impl Into<Arc<str>>) -> Self {
        self.process = process.into();
        self
    }

    /// Sets for how long this process may pass a lock among its own waiters while other processes wait. The default is 10 ms. The tenure does not
    /// revoke a guard: if a guard is held for longer, the database grants the lock to the next process after its release. With [`Duration::ZERO`],
    /// each release goes to the database.
    pub fn tenure(mut self, tenure: Duration) -> Self {
        self.tenure = tenure.min(FOR_EVER);
        self
    }

    /// Sets how long the database may take to answer a statement. Statements do not wait for locks. After this time the session ends, and this
    /// process loses all its locks. The default is 5 s.
    pub fn answer_limit(mut self, limit: Duration) -> Self {
        self.answer_limit = limit.min(FOR_EVER);
        self
    }

    /// Sets for how long the process tries to replace a lost session, with pauses of 20 ms to 1 s between attempts, before requests for
    /// locks fail. The default is 30 s. The time counts from the first attempt to connect again; a request that begins later has the rest
    /// of it. An attempt may take the address's `connect_timeout` (by default 10 s) at each of its hosts.
    pub fn reconnect_limit(mut self, limit: Duration) -> Self {
        self.reconnect_limit = limit.min(FOR_EVER);
        self
    }

    /// Sets the configuration of TLS. By default, the server needs a certificate that the system trusts. Whether TLS is used depends on the
    /// address's `sslmode`: `disable`, `prefer` (the default) or `require`.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: ClientConfig) -> Self {
        self.connector = Connector::new(tls).into();
        self
    }

    /// Sets a function to call, in a task of its own, for each lock or lease that was lost while held. It is also called if the guard was dropped and
    /// its release is in progress. It must not block.
    pub fn on_lost(mut self, told: impl Fn(&Lost) + Send + Sync + 'static) -> Self {
        self.on_lost = Some(Arc::new(told));
        self
    }

    /// The name of a lock, with the namespace.
    pub(crate) fn name(&self, name: &str) -> Result<Arc<str>, Error> {
        let whole: Arc<str> = match &*self.namespace {
            "" => name.into(),
            namespace => format!("{namespace}/{name}").into(),
        };
        if name.is_empty() { Err(EMPTY) } else { checked(whole) }
    }

    /// Calls `run` for one host after the other, until one is reached and answers.
    pub(crate) async fn at_first_host<T, F>(
        &self,
        run: impl Fn(tokio_postgres::Config) -> F,
    ) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let (limit, start) = (self.connect_limit(), Instant::now());
        let late = || Error::silent(start, limit);
        let mut failed = late();
        for host in self.hosts() {
            match timeout(limit, run(host)).await.unwrap_or_else(|_| Err(late())) {
                Err(error) if error.may_pass() => failed = error,
                done => return done,
            }
        }
        Err(failed)
    }

    /// The address, split into one per host, because the client's own time limit per host ends with the TCP connection.
    fn hosts(&self) -> Vec<tokio_postgres::Config> {
        let mut all = self.postgres.clone();
        if all.get_target_session_attrs() == TargetSessionAttrs::ReadWrite {
            // A standby is skipped in any case. The client would also skip a primary whose role has `default_transaction_read_only`.
            all.target_session_attrs(TargetSessionAttrs::Any);
        }
        let (names, addresses, ports) = (all.get_hosts(), all.get_hostaddrs(), all.get_ports());
        let count = names.len().max(addresses.len());
        let is_wrong = [names.len(), addresses.len(), ports.len()].iter().any(|&len| len > 1 && len != count);
        if count < 2 || is_wrong {
            return vec![all];
        }
        let of = |number: usize| {
            let mut one = tokio_postgres::Config::new();
            one.ssl_mode(all.get_ssl_mode()).ssl_negotiation(all.get_ssl_negotiation());
            one.keepalives(all.get_keepalives()).keepalives_idle(all.get_keepalives_idle());
            one.target_session_attrs(all.get_target_session_attrs())
                .channel_binding(all.get_channel_binding());
            one.load_balance_hosts(all.get_load_balance_hosts());
            all.get_user().map(|user| one.user(user));
            all.get_password().map(|password| one.password(password));
            all.get_dbname().map(|name| one.dbname(name));
            all.get_options().map(|options| one.options(options));
            all.get_application_name().map(|name| one.application_name(name));
            all.get_connect_timeout().map(|timeout| one.connect_timeout(*timeout));
            all.get_tcp_user_timeout().map(|timeout| one.tcp_user_timeout(*timeout));
            all.get_keepalives_interval().map(|interval| one.keepalives_interval(interval));
            all.get_keepalives_retries().map(|retries| one.keepalives_retries(retries));
            match names.get(number) {
                Some(Host::Tcp(name)) => _ = one.host(name),
                #[cfg(unix)]
                Some(Host::Unix(folder)) => _ = one.host_path(folder),
                None => {}
            }
            addresses.get(number).map(|address| one.hostaddr(*address));
            ports.get(number).or(ports.first()).map(|port| one.port(*port));
            one
        };
        let mut hosts: Vec<_> = (0..count).map(of).collect();
        if all.get_load_balance_hosts() == LoadBalanceHosts::Random {
            hosts.rotate_left(random() as usize % count);
        }
        hosts
    }

    /// The time limit of a new session. A server may accept a connection and then send nothing.
    pub(crate) fn connect_limit(&self) -> Duration {
        self.postgres.get_connect_timeout().copied().unwrap_or(Duration::from_secs(10))
    }

    pub(crate) fn connector(&self) -> Connector {
        self.connector.get_or_init(of_the_system).to_owned()
    }
}

const EMPTY: Error = Error::Name("it is empty");

/// Returns the name if it is valid.
pub(crate) fn checked(name: Arc<str>) -> Result<Arc<str>, Error> {
    match &*name {
        "" => Err(EMPTY),
        name if name.len() > LONGEST => Err(Error::Name("with its namespace it is longer than 255 bytes")),
        name if name.contains('\0') => {
            Err(Error::Name("it contains a zero byte, which PostgreSQL cannot store"))
        }
        _ => Ok(name),
    }
}

/// The default name of this process: the program's file name and the process id.
pub(crate) fn this_process() -> Arc<str> {
    let program = std::env::current_exe().ok();
    let program = program.as_deref().and_then(|path| path.file_name()).unwrap_or_default();
    format!("{} {}", program.to_string_lossy(), std::process::id()).into()
}

/// Trusts the system's certificates. Without any, the handshake fails with an error that says so.
#[cfg(feature = "tls")]
fn of_the_system() -> Connector {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let tls = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring has the ciphers of TLS 1.2 and 1.3")
        .with_root_certificates(roots)
        .with_no_client_auth();
    Connector::new(tls)
}

/// Without TLS, an address with `sslmode=require` is an error.
#[cfg(not(feature = "tls"))]
fn of_the_system() -> Connector {
    tokio_postgres::NoTls
}

impl From<tokio_postgres::Config> for Config {
    fn from(mut postgres: tokio_postgres::Config) -> Self {
        if postgres.get_application_name().is_none() {
            postgres.application_name("waitword");
        }
        Self {
            postgres,
            connector: OnceLock::new(),
            namespace: String::new(),
            process: this_process(),
            tenure: Duration::from_millis(10),
            answer_limit: Duration::from_secs(5),
            reconnect_limit: Duration::from_secs(30),
            on_lost: None,
        }
    }
}

/// Parses the address of a database: `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`, or pairs such as `host=db user=app dbname=shop`.
impl FromStr for Config {
    type Err = Error;

    fn from_str(address: &str) -> Result<Self, Error> {
        address
            .parse::<tokio_postgres::Config>()
            .map(Self::from)
            .map_err(|error| Error::Address(Arc::new(error)))
    }
}

/// Formats the configuration without the password.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("postgres", &self.postgres)
            .field("namespace", &self.namespace)
            .field("process", &self.process)
            .field("tenure", &self.tenure)
            .field("answer_limit", &self.answer_limit)
            .field("reconnect_limit", &self.reconnect_limit)
            .finish_non_exhaustive()
    }
}

/// A number that nobody outside of the process can predict, from the source of the seeds of the standard library's maps.
pub(crate) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
