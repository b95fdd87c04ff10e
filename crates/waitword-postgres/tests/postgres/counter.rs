//! What the lock protects in the tests: a counter, and a row for each count.

use waitword_postgres::migrate;
use waitword_postgres::tokio_postgres::{self, Client, Error, NoTls};

use crate::server::Database;

/// The log's key is the fencing number, so that no number counts twice.
const TABLES: &str = "
    CREATE TABLE counter (value bigint NOT NULL);
    INSERT INTO counter VALUES (0);
    CREATE TABLE log (fence bigint PRIMARY KEY, value bigint NOT NULL, process integer NOT NULL);
    SELECT waitword.protect('counter', 'counter'); SELECT waitword.protect('log', 'counter')";

pub(crate) struct Counter {
    pub(crate) client: Client,
}

impl Counter {
    /// With the schema of waitword.
    pub(crate) async fn with_schema(database: &Database) -> Self {
        migrate(&database.config()).await.unwrap();
        Self::make(database).await
    }

    /// After the schema of waitword.
    pub(crate) async fn make(database: &Database) -> Self {
        let counter = Self::connect(&database.address()).await.unwrap();
        counter.client.batch_execute(TABLES).await.unwrap();
        counter
    }

    pub(crate) async fn connect(address: &str) -> Result<Self, Error> {
        let (client, connection) = tokio_postgres::connect(address, NoTls).await?;
        // Its end is seen by the next query.
        tokio::spawn(connection);
        Ok(Self { client })
    }

    /// In one transaction with a check, or each statement by itself without one. Two at a time of the latter would lose a count.
    pub(crate) async fn add_one(&mut self, fence: i64, is_checked: bool) -> Result<(), Error> {
        let process = std::process::id() as i32;
        const LOG: &str = "INSERT INTO log VALUES ($1, $2, $3)";
        if !is_checked {
            let value = number(&self.client, "SELECT value FROM counter").await? + 1;
            self.client.batch_execute("BEGIN").await?;
            self.client.execute("SELECT waitword.check('counter', 0)", &[]).await?;
            self.client.execute("UPDATE counter SET value = $1", &[&value]).await?;
            self.client.execute(LOG, &[&fence, &value, &process]).await?;
            return self.client.batch_execute("COMMIT").await;
        }
        let section = self.client.transaction().await?;
        section.execute("SELECT waitword.check('counter', $1)", &[&fence]).await?;
        let value: i64 = section.query_one("SELECT value FROM counter", &[]).await?.get(0);
        section.execute("UPDATE counter SET value = $1", &[&(value + 1)]).await?;
        section.execute(LOG, &[&fence, &(value + 1), &process]).await?;
        section.commit().await
    }

    /// After a comparison with the log.
    pub(crate) async fn value(&self) -> i64 {
        let value = number(&self.client, "SELECT value FROM counter").await.unwrap();
        assert_eq!(value, number(&self.client, "SELECT count(*) FROM log").await.unwrap());
        let unordered = "SELECT count(*) FROM (SELECT value, lag(value) OVER (ORDER BY fence) AS last FROM log) l WHERE value <= last";
        assert_eq!(
            number(&self.client, unordered).await.unwrap(),
            0,
            "the numbers are in the order of the counts"
        );
        value
    }
}

pub(crate) async fn number(client: &Client, query: &str) -> Result<i64, Error> {
    Ok(client.query_one(query, &[]).await?.get(0))
}

/// The fencing number was too old.
pub(crate) fn is_refusal(error: &Error) -> bool {
    error.code().is_some_and(|code| code.code() == "WW001")
}
