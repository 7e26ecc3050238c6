-- +goose NO TRANSACTION
-- +goose Up
-- Indexes of the filters of lists, and figures that would take too long to count. Triggers keep the figures, so that links
-- count that programs of the previous release change. Each statement can be repeated, because a migration that
-- was interrupted starts again.
SET statement_timeout = 0;
SET lock_timeout = 0; -- for CREATE INDEX CONCURRENTLY, which waits for other transactions without blocking anybody

-- A statement that waits for an exclusive lock makes all later users of the table wait behind it. So it waits for
-- 400 ms at most and then lets others pass, such as a backup that reads the table for minutes. That is less than
-- deadlock_timeout, so in a deadlock the migration gives way, not a program of the previous release.
-- +goose StatementBegin
CREATE OR REPLACE PROCEDURE migrate_patiently(statement TEXT) LANGUAGE plpgsql AS $$
BEGIN
	LOOP
		BEGIN
			SET LOCAL lock_timeout = '400ms';
			EXECUTE statement;
			RETURN;
		EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
		END;
		COMMIT;
		PERFORM pg_sleep(0.5);
	END LOOP;
END $$;
-- +goose StatementEnd

-- An interrupted CREATE INDEX CONCURRENTLY leaves an invalid index, which is dropped here and built again.
-- +goose StatementBegin
DO $$
DECLARE
	name TEXT;
BEGIN
	FOR name IN SELECT indexrelid::regclass::text FROM pg_index
		WHERE NOT indisvalid AND indrelid IN ('urls'::regclass, 'audit_logs'::regclass)
	LOOP
		CALL migrate_patiently('DROP INDEX ' || name);
	END LOOP;
END $$;
-- +goose StatementEnd
CREATE INDEX CONCURRENTLY IF NOT EXISTS urls_creator ON urls (user_id, workspace_num, num);
CREATE INDEX CONCURRENTLY IF NOT EXISTS urls_campaign ON urls (utm_campaign, workspace_num, num) WHERE utm_campaign IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS urls_inactive ON urls (workspace_num, num, expires_at, exhausted_at, suspended_at) WHERE NOT active;
CREATE INDEX CONCURRENTLY IF NOT EXISTS urls_scheduled ON urls (workspace_num, starts_at, num) WHERE starts_at IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS urls_exhausted ON urls (workspace_num, num) WHERE exhausted_at IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS urls_suspended ON urls (workspace_num, num) WHERE suspended_at IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS urls_workspace_expires_new ON urls (workspace_num, expires_at, num, suspended_at);
DROP INDEX CONCURRENTLY IF EXISTS urls_workspace_expires;
CALL migrate_patiently('ALTER INDEX IF EXISTS urls_workspace_expires_new RENAME TO urls_workspace_expires');
CREATE INDEX CONCURRENTLY IF NOT EXISTS urls_expires_new ON urls (expires_at, num, suspended_at);
DROP INDEX CONCURRENTLY IF EXISTS urls_expires;
CALL migrate_patiently('ALTER INDEX IF EXISTS urls_expires_new RENAME TO urls_expires');
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_logs_action ON audit_logs (action, created_at, seq);
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_logs_type ON audit_logs (entity_type, created_at, seq);
DROP INDEX CONCURRENTLY IF EXISTS urls_user_created;

-- Links by state and by the hours in which they expire and start; -1 stands for never. Every statement adds rows with the
-- differences that it makes, so that writers never wait for each other. The sum of the rows with one key counts; programs
-- replace such rows by their sum from time to time.
CREATE TABLE IF NOT EXISTS link_counts (
	workspace_num BIGINT NOT NULL,
	state         SMALLINT NOT NULL, -- 0: active, 1: inactive, 2: exhausted, 3: suspended
	expires_hour  BIGINT NOT NULL,   -- hours since 1970
	starts_hour   BIGINT NOT NULL,
	links         BIGINT NOT NULL,
	clicks        BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS link_counts_workspace ON link_counts (workspace_num);
-- Values of the campaign fields, and the number of links that have each, in the same manner.
CREATE TABLE IF NOT EXISTS utm_values (
	field         TEXT   COLLATE "C" NOT NULL, -- a column of urls
	workspace_num BIGINT NOT NULL,
	value         TEXT   COLLATE "C" NOT NULL,
	links         BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS utm_values_field ON utm_values (field, workspace_num);
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION urls_count_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO link_counts (workspace_num, state, expires_hour, starts_hour, links, clicks)
	SELECT workspace_num, CASE WHEN suspended_at IS NOT NULL THEN 3 WHEN exhausted_at IS NOT NULL THEN 2 WHEN NOT active THEN 1 ELSE 0 END, coalesce(expires_at / 3600000, -1), coalesce(starts_at / 3600000, -1), count(*), sum(click_count)
	FROM made GROUP BY 1, 2, 3, 4;
	INSERT INTO utm_values (field, workspace_num, value, links)
	SELECT v.field, workspace_num, v.value, count(*)
	FROM made, LATERAL (VALUES ('utm_source', utm_source), ('utm_medium', utm_medium), ('utm_campaign', utm_campaign), ('utm_term', utm_term), ('utm_content', utm_content), ('utm_id', utm_id), ('utm_source_platform', utm_source_platform)) AS v (field, value) WHERE v.value IS NOT NULL GROUP BY 1, 2, 3;
	RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION urls_count_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO link_counts (workspace_num, state, expires_hour, starts_hour, links, clicks)
	SELECT workspace_num, CASE WHEN suspended_at IS NOT NULL THEN 3 WHEN exhausted_at IS NOT NULL THEN 2 WHEN NOT active THEN 1 ELSE 0 END, coalesce(expires_at / 3600000, -1), coalesce(starts_at / 3600000, -1), -count(*), -sum(click_count)
	FROM gone GROUP BY 1, 2, 3, 4;
	INSERT INTO utm_values (field, workspace_num, value, links)
	SELECT v.field, workspace_num, v.value, -count(*)
	FROM gone, LATERAL (VALUES ('utm_source', utm_source), ('utm_medium', utm_medium), ('utm_campaign', utm_campaign), ('utm_term', utm_term), ('utm_content', utm_content), ('utm_id', utm_id), ('utm_source_platform', utm_source_platform)) AS v (field, value) WHERE v.value IS NOT NULL GROUP BY 1, 2, 3;
	RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION urls_count_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM gone JOIN made USING (num) WHERE (gone.workspace_num, gone.active, gone.expires_at, gone.starts_at, gone.exhausted_at, gone.suspended_at, gone.click_count)
		IS DISTINCT FROM (made.workspace_num, made.active, made.expires_at, made.starts_at, made.exhausted_at, made.suspended_at, made.click_count)) THEN
		INSERT INTO link_counts (workspace_num, state, expires_hour, starts_hour, links, clicks)
		SELECT workspace_num, CASE WHEN suspended_at IS NOT NULL THEN 3 WHEN exhausted_at IS NOT NULL THEN 2 WHEN NOT active THEN 1 ELSE 0 END, coalesce(expires_at / 3600000, -1), coalesce(starts_at / 3600000, -1), sum(n), sum(n * click_count)
		FROM (SELECT workspace_num, active, expires_at, starts_at, exhausted_at, suspended_at, click_count, 1 AS n FROM made UNION ALL SELECT workspace_num, active, expires_at, starts_at, exhausted_at, suspended_at, click_count, -1 FROM gone) AS both_sides
		GROUP BY 1, 2, 3, 4 HAVING sum(n) <> 0 OR sum(n * click_count) <> 0;
	END IF;
	IF EXISTS (SELECT FROM gone JOIN made USING (num) WHERE (gone.workspace_num, gone.utm_source, gone.utm_medium, gone.utm_campaign, gone.utm_term, gone.utm_content, gone.utm_id, gone.utm_source_platform)
		IS DISTINCT FROM (made.workspace_num, made.utm_source, made.utm_medium, made.utm_campaign, made.utm_term, made.utm_content, made.utm_id, made.utm_source_platform)) THEN
		INSERT INTO utm_values (field, workspace_num, value, links)
		SELECT v.field, workspace_num, v.value, sum(n)
		FROM (SELECT workspace_num, utm_source, utm_medium, utm_campaign, utm_term, utm_content, utm_id, utm_source_platform, 1 AS n FROM made UNION ALL SELECT workspace_num, utm_source, utm_medium, utm_campaign, utm_term, utm_content, utm_id, utm_source_platform, -1 FROM gone) AS both_sides, LATERAL (VALUES ('utm_source', utm_source), ('utm_medium', utm_medium), ('utm_campaign', utm_campaign), ('utm_term', utm_term), ('utm_content', utm_content), ('utm_id', utm_id), ('utm_source_platform', utm_source_platform)) AS v (field, value)
		WHERE v.value IS NOT NULL GROUP BY 1, 2, 3 HAVING sum(n) <> 0;
	END IF;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CALL migrate_patiently('CREATE OR REPLACE TRIGGER urls_count_insert AFTER INSERT ON urls REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION urls_count_insert()');
CALL migrate_patiently('CREATE OR REPLACE TRIGGER urls_count_delete AFTER DELETE ON urls REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION urls_count_delete()');
CALL migrate_patiently('CREATE OR REPLACE TRIGGER urls_count_update AFTER UPDATE ON urls REFERENCING OLD TABLE AS gone NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION urls_count_update()');
-- Each statement sees the links and the differences of one moment. What triggers add later counts in addition.
WITH known AS (DELETE FROM link_counts)
INSERT INTO link_counts (workspace_num, state, expires_hour, starts_hour, links, clicks)
SELECT workspace_num, CASE WHEN suspended_at IS NOT NULL THEN 3 WHEN exhausted_at IS NOT NULL THEN 2 WHEN NOT active THEN 1 ELSE 0 END, coalesce(expires_at / 3600000, -1), coalesce(starts_at / 3600000, -1), count(*), sum(click_count) FROM urls GROUP BY 1, 2, 3, 4;
WITH known AS (DELETE FROM utm_values)
INSERT INTO utm_values (field, workspace_num, value, links)
SELECT v.field, workspace_num, v.value, count(*) FROM urls, LATERAL (VALUES ('utm_source', utm_source), ('utm_medium', utm_medium), ('utm_campaign', utm_campaign), ('utm_term', utm_term), ('utm_content', utm_content), ('utm_id', utm_id), ('utm_source_platform', utm_source_platform)) AS v (field, value)
WHERE v.value IS NOT NULL GROUP BY 1, 2, 3;
ANALYZE link_counts, utm_values;
DROP PROCEDURE migrate_patiently;
SET lock_timeout = '400ms';
RESET statement_timeout;
