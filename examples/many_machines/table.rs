//! What the lock protects: a counter in a table of the same database.

use tokio_postgres::{Client, Config, Error, Statement};

use crate::session::{self, Failed, SCHEMA};

/// `log` has a row per count. Its key is the fencing number, so that no number counts twice.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS counter (value bigint NOT NULL, fence bigint NOT NULL);
    INSERT INTO counter SELECT 0, 0 WHERE NOT EXISTS (SELECT FROM counter);
    CREATE TABLE IF NOT EXISTS log (fence bigint PRIMARY KEY, process bigint NOT NULL)";

/// The first access of a section raises the fence: from then on, whatever a holder with a smaller number does changes nothing. If only
/// writes did, it could still write between this read and the write that follows from it.
const READ: &str = "UPDATE counter SET fence = $1 WHERE fence < $1 RETURNING value";

/// If the fence is still where the section put it.
const WRITE: &str = "
    WITH written AS (UPDATE counter SET value = $1 WHERE fence = $2 RETURNING fence)
    INSERT INTO log SELECT fence, $3 FROM written";

/// A session that reads and writes the counter.
pub(crate) struct Table {
    pub(crate) client: Client,
    read: Statement,
    write: Statement,
}

impl Table {
    /// Makes the tables if they are not there.
    pub(crate) async fn connect(config: &Config) -> Result<Self, Failed> {
        let (client, connection) = session::connect(config).await?;
        // Its end is seen by the next query.
        tokio::spawn(connection);
        // One process at a time: `IF NOT EXISTS` does not keep two from making the same.
        client.batch_execute("BEGIN; SELECT pg_advisory_xact_lock(0)").await?;
        client.batch_execute(TABLES).await?;
        if client.query_opt("SELECT FROM pg_class WHERE relname = 'waitword_fence'", &[]).await?.is_none() {
            client.batch_execute(SCHEMA).await?;
        }
        client.batch_execute("COMMIT").await?;
        let (read, write) = tokio::try_join!(client.prepare(READ), client.prepare(WRITE))?;
        Ok(Self { client, read, write })
    }

    /// The first access of the section with this number. `None` if it is refused: a section with a larger one has begun.
    pub(crate) async fn read(&self, fence: i64) -> Result<Option<i64>, Error> {
        Ok(self.client.query_opt(&self.read, &[&fence]).await?.map(|row| row.get(0)))
    }

    /// Whether it was written, which is refused if a section with a larger number has begun, or this one has not read.
    pub(crate) async fn write(&self, value: i64, fence: i64) -> Result<bool, Error> {
        let process = i64::from(std::process::id());
        Ok(self.client.execute(&self.write, &[&value, &fence, &process]).await? == 1)
    }
}
