-- +goose NO TRANSACTION
-- +goose Up
-- The journal of links that lists show or sort differently than before. Control planes keep the columns of lists in memory
-- and read the journal to apply changes. Triggers write it, so that it has the changes of programs of the previous release
-- too. Each statement can be repeated, because a migration that was interrupted starts again.
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
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_logs_by_user ON audit_logs (user_id, seq);
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_logs_by_entity ON audit_logs (entity_id, created_at, seq);

-- Transactions commit in any order. So an entry has the number of its transaction, and readers start from the oldest
-- transaction that was running when they last read. Programs delete entries after some minutes.
CREATE TABLE IF NOT EXISTS link_journal (
	xid BIGINT NOT NULL DEFAULT txid_current(),
	num BIGINT NOT NULL -- of the link
);
CREATE INDEX IF NOT EXISTS link_journal_xid ON link_journal (xid);
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION urls_journal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO link_journal (num) SELECT num FROM changed;
	RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION urls_journal_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO link_journal (num) SELECT made.num FROM made JOIN gone USING (num)
	WHERE (gone.workspace_num, gone.user_id, gone.active, gone.expires_at, gone.starts_at, gone.exhausted_at, gone.suspended_at, gone.utm_campaign, gone.title, gone.slug, gone.search_text, gone.click_count, gone.created_at, gone.updated_at)
		IS DISTINCT FROM (made.workspace_num, made.user_id, made.active, made.expires_at, made.starts_at, made.exhausted_at, made.suspended_at, made.utm_campaign, made.title, made.slug, made.search_text, made.click_count, made.created_at, made.updated_at);
	RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION url_tags_journal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO link_journal (num) SELECT DISTINCT url_num FROM changed;
	RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION bundle_urls_journal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO link_journal (num) SELECT DISTINCT urls.num FROM changed JOIN urls ON urls.id = changed.url_id;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CALL migrate_patiently('CREATE OR REPLACE TRIGGER urls_journal_insert AFTER INSERT ON urls REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION urls_journal()');
CALL migrate_patiently('CREATE OR REPLACE TRIGGER urls_journal_delete AFTER DELETE ON urls REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION urls_journal()');
CALL migrate_patiently('CREATE OR REPLACE TRIGGER url_tags_journal_insert AFTER INSERT ON url_tags REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION url_tags_journal()');
CALL migrate_patiently('CREATE OR REPLACE TRIGGER url_tags_journal_delete AFTER DELETE ON url_tags REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION url_tags_journal()');
CALL migrate_patiently('CREATE OR REPLACE TRIGGER bundle_urls_journal_insert AFTER INSERT ON bundle_urls REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bundle_urls_journal()');
CALL migrate_patiently('CREATE OR REPLACE TRIGGER bundle_urls_journal_delete AFTER DELETE ON bundle_urls REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION bundle_urls_journal()');
CALL migrate_patiently('CREATE OR REPLACE TRIGGER urls_journal_update AFTER UPDATE ON urls REFERENCING OLD TABLE AS gone NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION urls_journal_update()');
DROP PROCEDURE migrate_patiently;
SET lock_timeout = '400ms';
RESET statement_timeout;
