-- The database's side of waitword-postgres: version 2. To be run in one transaction; can be run again, and beside processes that use it.
--
-- Who runs it is the owner. All functions run with the owner's rights, so that another role needs `GRANT USAGE ON SCHEMA waitword` alone.
-- What only other functions call, only the owner may.
--
-- A row of `locks` is a lock, and says who holds it; its waiters are rows of `waiters`. What changes either has locked the row of `locks` first,
-- so that two of them come one after the other. Two invariants hold whenever nobody has that row locked:
--
--   1. A lock without a holder has no waiters.
--   2. Its tickets are in the order in which the requests locked the row.
--
-- A process is a session. The session holds an advisory lock on its own number for as long as it lives, and whoever can take that lock knows that
-- the session has ended: PostgreSQL releases it with the session, and no number is used twice. A lock whose holder has ended passes on to the first
-- waiter that lives, by the hands of whoever notices.
--
-- Each function is one statement of its caller, so one transaction. A client that is stopped never has a row locked.

-- Two at a time would make the same. Sessions begin at 1, so that this is nobody's.
SELECT pg_advisory_xact_lock(2002876276, 0);

-- The text of an old program must not replace a newer version. Version 1 did not look: its text fails here, because the parameter of `open` has
-- another name now.
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

-- They stay: a lock that forgets its fencing number would grant it again. Half of a page is free, so that an update stays on it.
CREATE TABLE IF NOT EXISTS waitword.locks (
    name text PRIMARY KEY,
    fence bigint NOT NULL DEFAULT 0,
    session integer,
    token bigint,
    process text,
    since timestamptz
) WITH (fillfactor = 50);

-- A session names its requests by tokens.
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

-- The largest number that an access presented.
CREATE TABLE IF NOT EXISTS waitword.fences (name text PRIMARY KEY, fence bigint NOT NULL) WITH (fillfactor = 50);

CREATE OR REPLACE FUNCTION waitword.version() RETURNS integer
LANGUAGE sql IMMUTABLE AS 'SELECT 2';

-- Begins a session of a program that needs this version. A pooler that lends one server process to several clients shows by a number that is there
-- already.
CREATE OR REPLACE FUNCTION waitword.open(program integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    mine integer;
BEGIN
    IF program <> waitword.version() THEN
        RAISE EXCEPTION 'the schema waitword has version %, the program needs %', waitword.version(), program
            USING ERRCODE = CASE WHEN program < waitword.version() THEN 'WW006' ELSE 'WW002' END;
    ELSIF current_setting('waitword.session', true) <> '' THEN
        RAISE EXCEPTION 'this session is another client''s, too' USING ERRCODE = 'WW003';
    END IF;
    LOOP
        mine := nextval('waitword.sessions');
        -- Taken: the sequence was set back by hand, or began again.
        EXIT WHEN pg_try_advisory_lock(2002876276, mine);
    END LOOP;
    PERFORM set_config('waitword.session', mine::text, false);
    EXECUTE format('LISTEN waitword_%s', mine);
    RETURN mine;
END $$;

-- Raises if the server process is not the one that `open` ran in.
CREATE OR REPLACE FUNCTION waitword.own(my_session integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('waitword.session', true) IS DISTINCT FROM my_session::text THEN
        RAISE EXCEPTION 'this is not session %', my_session USING ERRCODE = 'WW003';
    END IF;
END $$;

-- The caller's own advisory lock would not keep the caller out. The lock that is tried is shared: two who look must not take each other for it.
-- It is given back at once: one for each of many dead sessions, kept until the commit, would fill the server's table of locks.
CREATE OR REPLACE FUNCTION waitword.lives(its_session integer) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN its_session::text = current_setting('waitword.session', true) THEN true
        WHEN pg_try_advisory_lock_shared(2002876276, its_session) THEN NOT pg_advisory_unlock_shared(2002876276, its_session)
        ELSE true END
$$;

-- Locks the row of a lock, and returns the session that holds the lock. A missing row is made: the lock is new, or an administrator deleted its row.
-- Then the fencing numbers continue above those that are known elsewhere; a forged number of a lock that was never here is not continued.
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

-- Grants the lock to the first waiter that lives, or to nobody. Returns whether somebody has it. The caller has locked the row.
CREATE OR REPLACE FUNCTION waitword.pass_on(lock_name text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    head waitword.waiters;
    granted bigint;
BEGIN
    -- `OFFSET 0`: asks of one after the other, up to the first that lives.
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

-- Takes the lock and returns the first of 1,048,576 fencing numbers; or enqueues, if `waits`, and returns null.
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
        -- While the holder stays, nobody else removes them.
        DELETE FROM waitword.waiters w WHERE w.name = lock_name AND NOT waitword.lives(w.session);
        INSERT INTO waitword.waiters (name, session, token, process) VALUES (lock_name, my_session, my_token, my_process);
    END IF;
    RETURN NULL;
END $$;

-- Ends a request, whether it waits or holds. Returns whether it held.
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
        -- It need not wait for the disk: a crash that undoes it has ended the session, too.
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
    RETURN true;
END $$;

-- Passes on what this session waits for and nobody holds: the holder's session has ended, or an administrator took the lock away. In the order of
-- names, so that no two wait for each other. Returns those of the session's requests, given by name and token, that neither wait nor hold any more.
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

-- The holder, if there is one, and the waiters in their order. Not those that have ended, and are to be removed.
CREATE OR REPLACE FUNCTION waitword.queue(lock_name text) RETURNS TABLE (process text, seconds double precision, holds boolean)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT q.process, greatest(0, extract(epoch FROM clock_timestamp() - q.since))::double precision, q.ticket = 0
    FROM (
        SELECT l.process, l.since, 0 AS ticket, l.session FROM waitword.locks l WHERE l.name = lock_name AND l.session IS NOT NULL
        UNION ALL SELECT w.process, w.since, w.ticket, w.session FROM waitword.waiters w WHERE w.name = lock_name
    ) q WHERE waitword.lives(q.session) ORDER BY q.ticket
$$;

-- Takes a lease that has expired, and returns its fencing number; or returns when it will expire.
CREATE OR REPLACE FUNCTION waitword.take_lease(lock_name text, my_process text, milliseconds bigint)
RETURNS TABLE (granted bigint, expires_in bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    moment timestamptz;
    expiry timestamptz;
BEGIN
    INSERT INTO waitword.leases (name) VALUES (lock_name) ON CONFLICT DO NOTHING;
    SELECT l.expires INTO expiry FROM waitword.leases l WHERE l.name = lock_name FOR UPDATE;
    -- After the wait for the row.
    moment := clock_timestamp();
    IF expiry > moment THEN
        RETURN QUERY SELECT NULL::bigint, ceil(extract(epoch FROM expiry - moment) * 1000)::bigint;
        RETURN;
    END IF;
    -- The numbers of a lock of that name and of the lease are of one row: what checks them may not know which it was.
    PERFORM waitword.lock_row(lock_name);
    UPDATE waitword.locks l SET fence = l.fence + 1048576 WHERE l.name = lock_name RETURNING l.fence INTO granted;
    UPDATE waitword.leases l
        SET fence = granted, process = my_process, since = moment, expires = moment + milliseconds * interval '1 ms'
        WHERE l.name = lock_name;
    expires_in := milliseconds;
    RETURN NEXT;
END $$;

-- Extends the lease with this number from now on, unless it has expired.
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

-- The setting in which a transaction keeps that it has called `check`.
CREATE OR REPLACE FUNCTION waitword.checked(lock_name text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'waitword.checked_' || encode(sha256(convert_to(lock_name, 'UTF8')), 'hex')
$$;

-- Refuses a number that is smaller than one before it. Has to be a statement of its own, the first of each transaction that reads or writes what the
-- lock protects: the row that it locks keeps the next holder's transaction out until this one ends, and what follows sees all before it.
CREATE OR REPLACE FUNCTION waitword.check(lock_name text, my_fence bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF my_fence IS NULL THEN
        RAISE EXCEPTION 'waitword.check needs a number: the guard''s fence' USING ERRCODE = 'null_value_not_allowed';
    END IF;
    -- A forged number would keep all true ones out. Of a lock of another database nothing is known here.
    IF my_fence >= (SELECT l.fence + 1048576 FROM waitword.locks l WHERE l.name = lock_name) THEN
        RAISE EXCEPTION 'the lock % has never granted the fencing number %', lock_name, my_fence
            USING ERRCODE = 'WW005', HINT = 'Show the number of a guard of this lock, or give what it protects another name.';
    END IF;
    INSERT INTO waitword.fences AS f (name, fence) VALUES (lock_name, my_fence)
        ON CONFLICT (name) DO UPDATE SET fence = excluded.fence WHERE f.fence <= excluded.fence;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the fencing number % of % is too old: the lock was lost, and another has it or had it', my_fence, lock_name
            USING ERRCODE = 'WW001', HINT = 'Roll back, and take the lock again.';
    END IF;
    -- For the trigger, until the transaction ends.
    PERFORM set_config(waitword.checked(lock_name), 'yes', true);
END $$;

-- Refuses writes of a transaction that has not called `check`.
CREATE OR REPLACE FUNCTION waitword.refuse_unchecked() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF coalesce(current_setting(waitword.checked(TG_ARGV[0]), true), '') = '' THEN
        RAISE EXCEPTION '% is protected by the lock %, and this transaction has not shown its fencing number', TG_RELID::regclass, TG_ARGV[0]
            USING ERRCODE = 'WW004', HINT = format('Begin each transaction with SELECT waitword.check(%L, FENCE).', TG_ARGV[0]);
    END IF;
    RETURN NULL;
END $$;

-- Lets a lock protect a table, in place of the lock that did before, and the partitions and children that it has: call it again after another was
-- added. The caller has to own the tables. Reads cannot be refused: they have to call `check` by themselves.
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

-- Not `refuse_unchecked`: whoever protects a table makes a trigger of it.
REVOKE EXECUTE ON FUNCTION waitword.own, waitword.lives, waitword.lock_row, waitword.pass_on, waitword.checked FROM PUBLIC;
