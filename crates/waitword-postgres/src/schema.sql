-- The database's side of waitword-postgres: version 2. Run this text in one transaction. It can be run again, also while processes use the schema.
--
-- The role that runs it becomes the owner. All functions run with the owner's rights, so another role needs only `GRANT USAGE ON SCHEMA waitword`.
-- Internal functions can be called by the owner only.
--
-- A row of `locks` is a lock, and names its holder. The waiters of a lock are rows of `waiters`. A function locks the row of `locks` before it
-- changes either, so that changes of one lock are serialized. Two invariants hold whenever that row is not locked:
--
--   1. A lock without a holder has no waiters.
--   2. The tickets of its waiters are in the order in which their requests locked the row.
--
-- A process has one session. The session holds an advisory lock on its own number while it is alive. PostgreSQL releases this lock when the session
-- ends, and no number is used twice: if another session can acquire the advisory lock, the session has ended. A lock whose holder has ended is
-- granted to the first live waiter by any session that notices.
--
-- Each function call is one statement and one transaction, so a client that is stopped never keeps a row locked.

-- Serializes concurrent runs of this text. Session numbers begin at 1, so 0 is nobody's.
SELECT pg_advisory_xact_lock(2002876276, 0);

-- An old program must not replace a newer version. The text of version 1 has no such check, but fails on a newer schema, because the parameter of
-- `open` has another name now.
DO $$
BEGIN
    IF to_regprocedure('waitword.version()') IS NULL THEN
        DROP FUNCTION IF EXISTS waitword.open(integer), waitword.watch(integer);
    ELSIF waitword.version() > 2 THEN
        RAISE EXCEPTION 'the schema waitword has version %, this program has version 2', waitword.version() USING ERRCODE = 'WW006';
    END IF;
END $$;

CREATE SCHEMA IF NOT EXISTS waitword;
CREATE SEQUENCE IF NOT EXISTS waitword.sessions AS integer CYCLE;

-- Rows are never deleted, because a lock that loses its fencing number would grant it again. Half of each page is left free, so that an updated row
-- stays on its page.
CREATE TABLE IF NOT EXISTS waitword.locks (
    name text PRIMARY KEY,
    fence bigint NOT NULL DEFAULT 0,
    session integer,
    token bigint,
    process text,
    since timestamptz
) WITH (fillfactor = 50);

-- A token identifies a request of a session.
CREATE TABLE IF NOT EXISTS waitword.waiters (
    name text NOT NULL,
    ticket bigint GENERATED ALWAYS AS IDENTITY,
    session integer NOT NULL,
    token bigint NOT NULL,
    process text NOT NULL,
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (name, ticket)
);

CREATE TABLE IF NOT EXISTS waitword.leases (
    name text PRIMARY KEY,
    fence bigint NOT NULL DEFAULT 0,
    process text,
    since timestamptz,
    expires timestamptz NOT NULL DEFAULT '-infinity'
);

-- The largest fencing number that was checked.
CREATE TABLE IF NOT EXISTS waitword.fences (name text PRIMARY KEY, fence bigint NOT NULL) WITH (fillfactor = 50);

CREATE OR REPLACE FUNCTION waitword.version() RETURNS integer
LANGUAGE sql IMMUTABLE AS 'SELECT 2';

-- Begins a session of a program that needs version `program`. If the server process has a session number already, a pooler shares it among clients.
CREATE OR REPLACE FUNCTION waitword.open(program integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    mine integer;
BEGIN
    IF program <> waitword.version() THEN
        RAISE EXCEPTION 'the schema waitword has version %, the program needs %', waitword.version(), program
            USING ERRCODE = CASE WHEN program < waitword.version() THEN 'WW006' ELSE 'WW002' END;
    ELSIF current_setting('waitword.session', true) <> '' THEN
        RAISE EXCEPTION 'this session is shared with another client' USING ERRCODE = 'WW003';
    END IF;
    LOOP
        mine := nextval('waitword.sessions');
        -- The number is taken if the sequence was reset by hand or has wrapped.
        EXIT WHEN pg_try_advisory_lock(2002876276, mine);
    END LOOP;
    PERFORM set_config('waitword.session', mine::text, false);
    EXECUTE format('LISTEN waitword_%s', mine);
    RETURN mine;
END $$;

-- Raises if this server process is not the one in which `open` ran.
CREATE OR REPLACE FUNCTION waitword.own(my_session integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('waitword.session', true) IS DISTINCT FROM my_session::text THEN
        RAISE EXCEPTION 'this is not session %', my_session USING ERRCODE = 'WW003';
    END IF;
END $$;

-- Returns whether a session is alive. The caller's own session is compared by its number, because its own advisory lock does not exclude it. The
-- attempt is for a shared lock, so that two concurrent attempts do not mistake each other for the session. It is released at once, because locks of
-- many dead sessions, held until the commit, would fill the server's lock table.
CREATE OR REPLACE FUNCTION waitword.lives(its_session integer) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN its_session::text = current_setting('waitword.session', true) THEN true
        WHEN pg_try_advisory_lock_shared(2002876276, its_session) THEN NOT pg_advisory_unlock_shared(2002876276, its_session)
        ELSE true END
$$;

-- Locks the row of a lock, and returns the session that holds the lock. Creates a missing row: the lock is new, or an administrator deleted its row.
-- In a new row, the fencing numbers continue above those in the other tables. Numbers from 2^61 on are ignored, because they must be forged.
CREATE OR REPLACE FUNCTION waitword.lock_row(lock_name text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    holder integer;
BEGIN
    LOOP
        SELECT l.session INTO holder FROM waitword.locks l WHERE l.name = lock_name FOR UPDATE;
        IF FOUND THEN
            RETURN holder;
        END IF;
        INSERT INTO waitword.locks (name, fence)
            SELECT lock_name, coalesce((max(known.fence) / 1048576 + 1) * 1048576, 0)
            FROM (SELECT name, fence FROM waitword.fences UNION ALL SELECT name, fence FROM waitword.leases) known
            WHERE known.name = lock_name AND known.fence > 0 AND known.fence < 1::bigint << 61
            ON CONFLICT DO NOTHING;
    END LOOP;
END $$;

-- Grants the lock to the first live waiter, or to nobody. Returns whether it was granted. The caller has locked the row.
CREATE OR REPLACE FUNCTION waitword.pass_on(lock_name text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    head waitword.waiters;
    granted bigint;
BEGIN
    -- `OFFSET 0` makes the query test one waiter after the other, up to the first live one.
    SELECT w.* INTO head
        FROM (SELECT * FROM waitword.waiters q WHERE q.name = lock_name ORDER BY q.ticket OFFSET 0) w
        WHERE waitword.lives(w.session) LIMIT 1;
    DELETE FROM waitword.waiters w WHERE w.name = lock_name AND (head.ticket IS NULL OR w.ticket <= head.ticket);
    UPDATE waitword.locks l
        SET session = head.session, token = head.token, process = head.process, since = clock_timestamp(),
            fence = l.fence + CASE WHEN head.session IS NULL THEN 0 ELSE 1048576 END
        WHERE l.name = lock_name RETURNING l.fence INTO granted;
    IF head.session IS NULL THEN
        RETURN false;
    END IF;
    -- Delivered after the commit, which has written the number to the disk.
    PERFORM pg_notify('waitword_' || head.session, head.token || ' ' || granted);
    RETURN true;
END $$;

-- Acquires the lock and returns the first of 1,048,576 fencing numbers. If the lock is held, returns null, after enqueuing the request if `waits`.
CREATE OR REPLACE FUNCTION waitword.request(my_session integer, lock_name text, my_token bigint, my_process text, waits boolean)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    holder integer;
    granted bigint;
BEGIN
    PERFORM waitword.own(my_session);
    holder := waitword.lock_row(lock_name);
    IF NOT waitword.lives(holder) THEN
        IF NOT waitword.pass_on(lock_name) THEN
            holder := NULL;
        END IF;
    END IF;
    IF holder IS NULL THEN
        UPDATE waitword.locks l
            SET session = my_session, token = my_token, process = my_process, since = clock_timestamp(), fence = l.fence + 1048576
            WHERE l.name = lock_name RETURNING l.fence INTO granted;
        RETURN granted;
    ELSIF waits THEN
        -- Removes dead waiters, because nothing else does while the holder is alive.
        DELETE FROM waitword.waiters w WHERE w.name = lock_name AND NOT waitword.lives(w.session);
        INSERT INTO waitword.waiters (name, session, token, process) VALUES (lock_name, my_session, my_token, my_process);
    END IF;
    RETURN NULL;
END $$;

-- Ends a request that waits or holds. Returns whether it held the lock.
CREATE OR REPLACE FUNCTION waitword.release(my_session integer, lock_name text, my_token bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    held boolean;
BEGIN
    PERFORM waitword.own(my_session);
    SELECT l.session = my_session AND l.token = my_token INTO held
        FROM waitword.locks l WHERE l.name = lock_name FOR UPDATE;
    IF NOT coalesce(held, false) THEN
        DELETE FROM waitword.waiters w
            WHERE w.name = lock_name AND w.session = my_session AND w.token = my_token;
        RETURN false;
    END IF;
    IF NOT waitword.pass_on(lock_name) THEN
        -- The commit need not wait for the disk: a crash that undoes the release also ends the session.
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
    RETURN true;
END $$;

-- Grants those locks that this session waits for and nobody holds: the holder's session has ended, or an administrator changed the row. Takes them
-- in the order of names, so that two calls cannot deadlock. Returns the tokens of those requests that neither wait nor hold any more; the caller
-- gives its requests by name and token.
CREATE OR REPLACE FUNCTION waitword.watch(my_session integer, names text[], tokens bigint[]) RETURNS bigint[]
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    awaited text;
    holder integer;
BEGIN
    PERFORM waitword.own(my_session);
    FOR awaited IN
        SELECT w.name FROM waitword.waiters w LEFT JOIN waitword.locks l ON l.name = w.name
            WHERE w.session = my_session AND (l.session IS NULL OR NOT waitword.lives(l.session)) ORDER BY w.name
    LOOP
        holder := waitword.lock_row(awaited);
        IF holder IS NULL OR NOT waitword.lives(holder) THEN
            PERFORM waitword.pass_on(awaited);
        END IF;
    END LOOP;
    RETURN ARRAY(
        SELECT r.token FROM unnest(names, tokens) r (name, token) WHERE NOT EXISTS (
            SELECT FROM waitword.locks l WHERE l.name = r.name AND l.session = my_session AND l.token = r.token
            UNION ALL SELECT FROM waitword.waiters w WHERE w.name = r.name AND w.session = my_session AND w.token = r.token
        )
    );
END $$;

-- Returns the holder, if there is one, and the waiters in queue order, without sessions that have ended but are not removed yet.
CREATE OR REPLACE FUNCTION waitword.queue(lock_name text) RETURNS TABLE (process text, seconds double precision, holds boolean)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT q.process, greatest(0, extract(epoch FROM clock_timestamp() - q.since))::double precision, q.ticket = 0
    FROM (
        SELECT l.process, l.since, 0 AS ticket, l.session FROM waitword.locks l WHERE l.name = lock_name AND l.session IS NOT NULL
        UNION ALL SELECT w.process, w.since, w.ticket, w.session FROM waitword.waiters w WHERE w.name = lock_name
    ) q WHERE waitword.lives(q.session) ORDER BY q.ticket
$$;

-- Acquires a lease that has expired and returns its fencing number; otherwise returns in how many milliseconds it expires.
CREATE OR REPLACE FUNCTION waitword.take_lease(lock_name text, my_process text, milliseconds bigint)
RETURNS TABLE (granted bigint, expires_in bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    moment timestamptz;
    expiry timestamptz;
BEGIN
    INSERT INTO waitword.leases (name) VALUES (lock_name) ON CONFLICT DO NOTHING;
    SELECT l.expires INTO expiry FROM waitword.leases l WHERE l.name = lock_name FOR UPDATE;
    -- Read the clock after the wait for the row.
    moment := clock_timestamp();
    IF expiry > moment THEN
        RETURN QUERY SELECT NULL::bigint, ceil(extract(epoch FROM expiry - moment) * 1000)::bigint;
        RETURN;
    END IF;
    -- A lock and a lease of one name take their numbers from one row, because `check` does not know which of them a number is of.
    PERFORM waitword.lock_row(lock_name);
    UPDATE waitword.locks l SET fence = l.fence + 1048576 WHERE l.name = lock_name RETURNING l.fence INTO granted;
    UPDATE waitword.leases l
        SET fence = granted, process = my_process, since = moment, expires = moment + milliseconds * interval '1 ms'
        WHERE l.name = lock_name;
    expires_in := milliseconds;
    RETURN NEXT;
END $$;

-- Renews the lease with this number for a term from now, unless it has expired. Returns whether it was renewed.
CREATE OR REPLACE FUNCTION waitword.renew_lease(lock_name text, its_fence bigint, milliseconds bigint) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH renewed AS (
        UPDATE waitword.leases l SET expires = clock_timestamp() + milliseconds * interval '1 ms'
            WHERE l.name = lock_name AND l.fence = its_fence AND l.expires > clock_timestamp() RETURNING 1
    )
    SELECT EXISTS (SELECT FROM renewed)
$$;

CREATE OR REPLACE FUNCTION waitword.end_lease(lock_name text, its_fence bigint) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE waitword.leases l SET expires = '-infinity' WHERE l.name = lock_name AND l.fence = its_fence
$$;

-- Returns the name of the setting that records, until the end of the transaction, that `check` was called.
CREATE OR REPLACE FUNCTION waitword.checked(lock_name text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'waitword.checked_' || encode(sha256(convert_to(lock_name, 'UTF8')), 'hex')
$$;

-- Raises if a larger number was checked before. Must be a statement of its own, the first of each transaction that reads or writes the protected
-- data: the row that it locks blocks the next holder's transaction until this one ends, and the statements after it see all earlier commits.
CREATE OR REPLACE FUNCTION waitword.check(lock_name text, my_fence bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF my_fence IS NULL THEN
        RAISE EXCEPTION 'waitword.check needs a fencing number, not null: use the fence() of the guard' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    -- A forged number would refuse all genuine ones. It cannot be recognized if the lock is in another database.
    IF my_fence >= (SELECT l.fence + 1048576 FROM waitword.locks l WHERE l.name = lock_name) THEN
        RAISE EXCEPTION 'the lock % has never granted the fencing number %', lock_name, my_fence
            USING ERRCODE = 'WW005', HINT = 'Check the number of a guard of this lock, or use the name of the lock that granted the number.';
    END IF;
    INSERT INTO waitword.fences AS f (name, fence) VALUES (lock_name, my_fence)
        ON CONFLICT (name) DO UPDATE SET fence = excluded.fence WHERE f.fence <= excluded.fence;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the fencing number % of the lock % is too old: the lock was lost, and a later holder has checked its number', my_fence, lock_name
            USING ERRCODE = 'WW001', HINT = 'Roll back, and acquire the lock again.';
    END IF;
    -- Read by the trigger, until the transaction ends.
    PERFORM set_config(waitword.checked(lock_name), 'yes', true);
END $$;

-- Raises on a write in a transaction that has not called `check`.
CREATE OR REPLACE FUNCTION waitword.refuse_unchecked() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF coalesce(current_setting(waitword.checked(TG_ARGV[0]), true), '') = '' THEN
        RAISE EXCEPTION 'the table % is protected by the lock %, and this transaction has not checked a fencing number', TG_RELID::regclass, TG_ARGV[0]
            USING ERRCODE = 'WW004', HINT = format('Begin each transaction with SELECT waitword.check(%L, FENCE).', TG_ARGV[0]);
    END IF;
    RETURN NULL;
END $$;

-- Makes a table, and its present partitions and children, refuse writes without a check of this lock. Replaces the lock that protected them before.
-- Call it again after a partition or child was added. The caller must own the tables. Reads cannot be refused: their transactions have to call `check`.
CREATE OR REPLACE FUNCTION waitword.protect(protected regclass, lock_name text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    part regclass;
BEGIN
    FOR part IN
        WITH RECURSIVE parts (part) AS (
            SELECT protected::oid UNION SELECT i.inhrelid FROM pg_inherits i JOIN parts p ON i.inhparent = p.part
        )
        SELECT p.part FROM parts p
    LOOP
        EXECUTE format(
            'CREATE OR REPLACE TRIGGER waitword BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON %s
             FOR EACH STATEMENT EXECUTE FUNCTION waitword.refuse_unchecked(%L)', part, lock_name);
    END LOOP;
END $$;

-- `refuse_unchecked` is not in this list, because a role that calls `protect` creates a trigger that executes it.
REVOKE EXECUTE ON FUNCTION waitword.own, waitword.lives, waitword.lock_row, waitword.pass_on, waitword.checked FROM PUBLIC;
