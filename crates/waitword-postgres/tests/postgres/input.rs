//! Errors that say what to do, and leave nothing half done.

use std::net::TcpListener;
use std::time::Duration;

use waitword_postgres::rustls::crypto::ring;
use waitword_postgres::rustls::pki_types::CertificateDer;
use waitword_postgres::rustls::pki_types::pem::PemObject;
use waitword_postgres::rustls::{ClientConfig, RootCertStore};
use waitword_postgres::{Cluster, Config, Error, migrate};

use crate::counter::{Counter, number};
use crate::pooler::Pooler;
use crate::server::{Database, patient};
use crate::{LIMIT, LONG, NAME, block_on, connect, two_processes, with_database};

async fn refused(address: &str) -> Error {
    let config: Config = address.parse().unwrap();
    Cluster::connect(config).await.expect_err("it connects")
}

#[test]
fn an_address_that_is_none_is_told() {
    let error = "postgresql//db".parse::<Config>().unwrap_err();
    assert!(error.to_string().contains("write postgresql://USER"), "{error}");
}

#[test]
fn a_server_that_says_nothing_keeps_nobody() {
    block_on(async {
        let mute = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = mute.local_addr().unwrap().port();
        let at_all = format!("host=127.0.0.1 port={port} user=me connect_timeout=1");
        let config: Config = at_all.parse().unwrap();
        let (error, migrated) = tokio::join!(refused(&at_all), migrate(&config));
        assert!(matches!(error, Error::Unreachable(..)), "{error}");
        assert!(matches!(migrated, Err(Error::Unreachable(..))));
        drop(mute);
        let nobody = refused(&at_all).await;
        assert!(nobody.to_string().contains("check the address"), "{nobody}");
    });
}

#[test]
fn a_database_without_the_schema_and_a_role_without_rights_are_told() {
    with_database(async |database| {
        let address = database.address();
        let error = refused(&address).await;
        assert!(matches!(error, Error::Schema(_)) && error.to_string().contains("migrate"), "{error}");
        let client = Counter::with_schema(&database).await.client;
        let role = format!(
            "guest_{}",
            number(&client, "SELECT oid::bigint FROM pg_database WHERE datname = current_database()")
                .await
                .unwrap()
        );
        client.batch_execute(&format!("CREATE ROLE {role} LOGIN")).await.unwrap();
        let as_guest = address.replace("user=tester", &format!("user={role}"));
        let error = refused(&as_guest).await;
        assert!(matches!(error, Error::Rights(_)) && error.to_string().contains("GRANT USAGE"), "{error}");
        assert!(matches!(migrate(&as_guest.parse().unwrap()).await, Err(Error::Rights(_))));
        // The right that the error names is enough.
        client.batch_execute(&format!("GRANT USAGE ON SCHEMA waitword TO {role}")).await.unwrap();
        let (cluster, mutex) = connect(patient(&as_guest)).await;
        mutex.lock_async().await.unwrap().unlock_async().await.unwrap();
        cluster.lease_async("leader", LONG).await.unwrap().release_async().await.unwrap();
        let other = address.replace("dbname=", "dbname=no_");
        assert!(matches!(refused(&other).await, Error::Refused(_)));
    });
}

#[test]
fn the_schema_can_be_made_twice_and_by_two_at_a_time() {
    with_database(async |database| {
        let config = database.config();
        let (one, other) = tokio::join!(migrate(&config), migrate(&config));
        one.unwrap();
        other.unwrap();
        let (_, mutex) = connect(config.clone()).await;
        let guard = mutex.lock_async().await.unwrap();
        migrate(&config).await.unwrap();
        guard.unlock_async().await.unwrap();
    });
}

#[test]
fn a_name_over_the_limit_is_told() {
    with_database(async |database| {
        migrate(&database.config()).await.unwrap();
        let cluster = Cluster::connect(database.config().namespace("shop")).await.unwrap();
        assert_eq!(cluster.mutex("stock").unwrap().name(), "shop/stock");
        for name in ["", "a\0b", &"n".repeat(251)] {
            assert!(matches!(cluster.mutex(name), Err(Error::Name(_))), "{name:?}");
            assert!(matches!(cluster.try_lease_async(name, LONG).await, Err(Error::Name(_))), "{name:?}");
        }
        let longest = cluster.mutex(&"n".repeat(250)).unwrap();
        longest.lock_async().await.unwrap().unlock_async().await.unwrap();
    });
}

#[test]
fn a_session_that_is_another_clients_too_is_refused() {
    with_database(async |database| {
        two_processes(&database, LONG).await;
        // As with a pooler that lends the server process of the first client to the second.
        let client = Counter::make(&database).await.client;
        let first = client.query_one("SELECT waitword.open(2)", &[]).await.unwrap().get::<_, i32>(0);
        for statement in [
            "SELECT waitword.open(2)".to_owned(),
            format!("SELECT waitword.watch({}, '{{}}', '{{}}')", first + 1),
        ] {
            let error = client.query_one(&statement, &[]).await.unwrap_err();
            assert_eq!(error.code().unwrap().code(), "WW003", "{statement}");
        }
    });
}

#[test]
fn tls_is_used_where_the_certificate_is_trusted() {
    let Some(database) = Database::new() else { return };
    let Ok(certificate) = CertificateDer::from_pem_file(database.server.certificate()) else { return };
    block_on(async {
        migrate(&database.config()).await.unwrap();
        let address = format!("{} sslmode=require", database.address_at(database.server.port));
        let config = patient(&address);
        let error = Cluster::connect(config.clone()).await.unwrap_err();
        assert!(error.to_string().contains("certificate"), "{error}");
        let mut roots = RootCertStore::empty();
        roots.add(certificate).unwrap();
        let tls = ClientConfig::builder_with_provider(ring::default_provider().into());
        let tls = tls.with_safe_default_protocol_versions().unwrap();
        let (_, mutex) = connect(config.tls(tls.with_root_certificates(roots).with_no_client_auth())).await;
        mutex.lock_async().await.unwrap().unlock_async().await.unwrap();
        let client = Counter::make(&database).await.client;
        let encrypted = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
            WHERE ssl AND application_name = 'waitword' AND datname = current_database()";
        assert_eq!(number(&client, encrypted).await.unwrap(), 1);
    });
}

#[test]
fn a_pooler_that_shares_sessions_is_refused_though_nobody_else_is_there() {
    let Some(database) = Database::new() else { return };
    block_on(migrate(&database.config())).unwrap();
    let modes = [
        ("session", true),
        ("transaction", false),
        ("statement", false),
        // The server processes that are idle by turns, instead of that which was used last.
        ("transaction\nserver_round_robin = 1", false),
    ];
    for (mode, is_right) in modes {
        let Some(pooler) = Pooler::start(&database, mode) else { return };
        block_on(async {
            let config = database.config_at(pooler.port);
            for _ in 0..2 {
                let connected = Cluster::connect(config.clone()).await;
                if is_right {
                    let mutex = connected.unwrap().mutex(NAME).unwrap();
                    mutex.lock_async().await.unwrap().unlock_async().await.unwrap();
                } else {
                    assert!(matches!(connected, Err(Error::SharedSession)), "{mode}: {connected:?}");
                }
            }
        });
    }
}

#[test]
fn a_migration_that_waits_for_another_ends() {
    with_database(async |database| {
        let client = Counter::with_schema(&database).await.client;
        client.batch_execute("BEGIN; SELECT pg_advisory_xact_lock(2002876276, 0)").await.unwrap();
        let config: Config = format!("{} connect_timeout=1", database.address()).parse().unwrap();
        let late = tokio::time::timeout(LIMIT / 2, migrate(&config)).await;
        let late = late.expect("it waits for ever").unwrap_err();
        assert!(
            matches!(late, Error::Unreachable(..)) && late.to_string().contains("connect_timeout"),
            "{late}"
        );
    });
}

#[test]
fn an_old_program_leaves_a_newer_schema_as_it_is() {
    with_database(async |database| {
        let client = Counter::with_schema(&database).await.client;
        // The text of version 1 begins this function so.
        let old = "CREATE OR REPLACE FUNCTION waitword.open(version integer) RETURNS integer LANGUAGE sql AS 'SELECT 1'";
        client.batch_execute(old).await.expect_err("an old text replaces a newer one");
        let version =
            "CREATE OR REPLACE FUNCTION waitword.version() RETURNS integer LANGUAGE sql IMMUTABLE AS";
        client.batch_execute(&format!("{version} 'SELECT 3'")).await.unwrap();
        for refused in
            [migrate(&database.config()).await, Cluster::connect(database.config()).await.map(drop)]
        {
            let error = refused.unwrap_err();
            let text = error.to_string();
            assert!(matches!(error, Error::Outdated(_)) && text.contains("update the program"), "{text}");
        }
        assert_eq!(number(&client, "SELECT waitword.version()::bigint").await.unwrap(), 3);
        client.batch_execute(&format!("{version} 'SELECT 1'")).await.unwrap();
        let error = Cluster::connect(database.config()).await.unwrap_err();
        assert!(matches!(error, Error::Schema(_)) && error.to_string().contains("migrate"), "{error}");
        // A version that did not say its number.
        client.batch_execute("DROP FUNCTION waitword.version, waitword.open").await.unwrap();
        client.batch_execute(old).await.unwrap();
        migrate(&database.config()).await.unwrap();
        connect(database.config()).await;
    });
}

/// What a server says once, and then what the program says of it. A text that is not of this case must not be there.
async fn says(database: &Database, code: &str, text: &str) -> String {
    let client = Counter::connect(&database.address()).await.unwrap().client;
    let fails = format!(
        "CREATE OR REPLACE FUNCTION waitword.open(program integer) RETURNS integer LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{code}', MESSAGE = '{text}'; END $$"
    );
    client.batch_execute(&fails).await.unwrap();
    let error = refused(&database.address()).await;
    assert!(matches!(error, Error::Unreachable(..)), "{error}");
    error.to_string()
}

#[test]
fn a_failure_to_connect_is_told_with_its_reason_its_time_and_what_to_do() {
    with_database(async |database| {
        migrate(&database.config()).await.unwrap();
        let statement = says(&database, "57014", "canceling statement due to statement timeout").await;
        let standby = says(&database, "25006", "cannot execute nextval() in a read-only transaction").await;
        let full = says(&database, "53300", "too many connections for role").await;
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let nobody = refused(&format!("host=127.0.0.1 port={port} user=me")).await;
        assert!(
            matches!(&nobody, Error::Unreachable(time, _) if *time < Duration::from_secs(10)),
            "{nobody}"
        );
        for (text, is_named) in [
            (statement, "raise it for the role"),
            (standby, "the address of the primary"),
            (full, "raise max_connections"),
            (nobody.to_string(), "check the address"),
        ] {
            assert!(text.contains(is_named) && !text.contains("certificate"), "{text}");
            assert!(!text.contains("within 10s"), "{text}");
        }
    });
}
