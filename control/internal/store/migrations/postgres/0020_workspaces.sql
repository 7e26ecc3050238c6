-- +goose NO TRANSACTION
-- +goose Up
-- Links, bundles, webhooks and API keys belong to a workspace. Programs of the previous release know only users: the
-- triggers give each new user a personal workspace, and put what these programs insert into it. Each statement can be
-- repeated, because a migration that was interrupted starts again.
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

-- A personal workspace has the number and the id of its user. Clicks contain the number of the owner, so the clicks of
-- earlier releases already name the workspace. The numbers of other workspaces come from the sequence of users.num.
CREATE TABLE IF NOT EXISTS workspaces (
	num         BIGINT PRIMARY KEY,
	id          TEXT   NOT NULL UNIQUE,
	name        TEXT   NOT NULL,
	slug        TEXT   COLLATE "C" NOT NULL UNIQUE,
	personal_of TEXT   UNIQUE REFERENCES users (id) ON DELETE CASCADE, -- NULL: a workspace for a team
	created_at  BIGINT NOT NULL,
	updated_at  BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS workspace_members (
	workspace_num BIGINT NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	user_id       TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	role          TEXT   NOT NULL CHECK (role IN ('OWNER', 'ADMIN', 'EDITOR', 'VIEWER')),
	created_at    BIGINT NOT NULL,
	PRIMARY KEY (workspace_num, user_id)
);
CREATE INDEX IF NOT EXISTS workspace_members_user ON workspace_members (user_id);

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION users_make_workspace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO workspaces (num, id, name, slug, personal_of, created_at, updated_at)
	VALUES (NEW.num, NEW.id, 'Personal', 'u-' || replace(NEW.id, '-', ''), NEW.id, NEW.created_at, NEW.created_at);
	INSERT INTO workspace_members (workspace_num, user_id, role, created_at) VALUES (NEW.num, NEW.id, 'OWNER', NEW.created_at);
	RETURN NULL;
END $$;
-- +goose StatementEnd
CALL migrate_patiently('CREATE OR REPLACE TRIGGER users_workspace AFTER INSERT ON users FOR EACH ROW EXECUTE FUNCTION users_make_workspace()');
INSERT INTO workspaces (num, id, name, slug, personal_of, created_at, updated_at)
SELECT num, id, 'Personal', 'u-' || replace(id, '-', ''), id, created_at, created_at FROM users ON CONFLICT DO NOTHING;
INSERT INTO workspace_members (workspace_num, user_id, role, created_at)
SELECT num, id, 'OWNER', created_at FROM users ON CONFLICT DO NOTHING;

-- Adding a column without a default does not rewrite the table.
CALL migrate_patiently('ALTER TABLE urls ADD COLUMN IF NOT EXISTS workspace_num BIGINT');
CALL migrate_patiently('ALTER TABLE bundles ADD COLUMN IF NOT EXISTS workspace_num BIGINT');
CALL migrate_patiently('ALTER TABLE webhooks ADD COLUMN IF NOT EXISTS workspace_num BIGINT');
CALL migrate_patiently('ALTER TABLE api_keys ADD COLUMN IF NOT EXISTS workspace_num BIGINT');
-- Rows of earlier releases have no workspace. Audit rows never change, so only administrators see those.
CALL migrate_patiently('ALTER TABLE audit_logs ADD COLUMN IF NOT EXISTS workspace_num BIGINT');

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION choose_personal_workspace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.workspace_num := (SELECT num FROM users WHERE id = NEW.user_id);
	RETURN NEW;
END $$;
-- +goose StatementEnd
CALL migrate_patiently('CREATE OR REPLACE TRIGGER urls_workspace BEFORE INSERT ON urls FOR EACH ROW WHEN (NEW.workspace_num IS NULL) EXECUTE FUNCTION choose_personal_workspace()');
CALL migrate_patiently('CREATE OR REPLACE TRIGGER bundles_workspace BEFORE INSERT ON bundles FOR EACH ROW WHEN (NEW.workspace_num IS NULL) EXECUTE FUNCTION choose_personal_workspace()');
CALL migrate_patiently('CREATE OR REPLACE TRIGGER webhooks_workspace BEFORE INSERT ON webhooks FOR EACH ROW WHEN (NEW.workspace_num IS NULL) EXECUTE FUNCTION choose_personal_workspace()');
CALL migrate_patiently('CREATE OR REPLACE TRIGGER api_keys_workspace BEFORE INSERT ON api_keys FOR EACH ROW WHEN (NEW.workspace_num IS NULL) EXECUTE FUNCTION choose_personal_workspace()');

UPDATE bundles SET workspace_num = (SELECT num FROM users WHERE id = user_id) WHERE workspace_num IS NULL;
UPDATE webhooks SET workspace_num = (SELECT num FROM users WHERE id = user_id) WHERE workspace_num IS NULL;
UPDATE api_keys SET workspace_num = (SELECT num FROM users WHERE id = user_id) WHERE workspace_num IS NULL;
-- The old indexes go first: every index makes the move of links slower. Programs of the previous release sort instead.
DROP INDEX CONCURRENTLY IF EXISTS urls_user_updated;
DROP INDEX CONCURRENTLY IF EXISTS urls_user_clicks;
DROP INDEX CONCURRENTLY IF EXISTS urls_user_title;
DROP INDEX CONCURRENTLY IF EXISTS urls_user_expires;
DROP INDEX CONCURRENTLY IF EXISTS urls_user_slug;
-- Links are moved in short transactions, so that programs of the previous release can keep changing them. Rows that
-- another transaction has locked are left for the next round.
-- +goose StatementBegin
DO $$
DECLARE
	first BIGINT := 0;
	last  BIGINT;
BEGIN
	LOOP
		SELECT max(num) INTO last FROM (SELECT num FROM urls WHERE num > first ORDER BY num LIMIT 10000) batch;
		IF last IS NULL THEN
			EXIT WHEN NOT EXISTS (SELECT FROM urls WHERE workspace_num IS NULL);
			first := 0;
			PERFORM pg_sleep(0.05);
		ELSE
			WITH batch AS (
				SELECT num FROM urls WHERE num > first AND num <= last AND workspace_num IS NULL FOR NO KEY UPDATE SKIP LOCKED
			)
			UPDATE urls SET workspace_num = users.num FROM batch, users WHERE urls.num = batch.num AND users.id = urls.user_id;
			first := last;
		END IF;
		COMMIT;
	END LOOP;
END $$;
-- +goose StatementEnd

-- A valid constraint lets SET NOT NULL skip its scan of the table under an exclusive lock.
CALL migrate_patiently('ALTER TABLE urls DROP CONSTRAINT IF EXISTS urls_workspace_known, DROP CONSTRAINT IF EXISTS urls_workspace_num_fkey');
CALL migrate_patiently('ALTER TABLE urls ADD CONSTRAINT urls_workspace_known CHECK (workspace_num IS NOT NULL) NOT VALID, ADD CONSTRAINT urls_workspace_num_fkey FOREIGN KEY (workspace_num) REFERENCES workspaces (num) NOT VALID');
ALTER TABLE urls VALIDATE CONSTRAINT urls_workspace_known;
ALTER TABLE urls VALIDATE CONSTRAINT urls_workspace_num_fkey;
CALL migrate_patiently('ALTER TABLE urls ALTER COLUMN workspace_num SET NOT NULL, DROP CONSTRAINT urls_workspace_known');
CALL migrate_patiently('ALTER TABLE bundles ALTER COLUMN workspace_num SET NOT NULL, DROP CONSTRAINT IF EXISTS bundles_workspace_num_fkey, ADD CONSTRAINT bundles_workspace_num_fkey FOREIGN KEY (workspace_num) REFERENCES workspaces (num) ON DELETE CASCADE');
CALL migrate_patiently('ALTER TABLE webhooks ALTER COLUMN workspace_num SET NOT NULL, DROP CONSTRAINT IF EXISTS webhooks_workspace_num_fkey, ADD CONSTRAINT webhooks_workspace_num_fkey FOREIGN KEY (workspace_num) REFERENCES workspaces (num) ON DELETE CASCADE');
CALL migrate_patiently('ALTER TABLE api_keys ALTER COLUMN workspace_num SET NOT NULL, DROP CONSTRAINT IF EXISTS api_keys_workspace_num_fkey, ADD CONSTRAINT api_keys_workspace_num_fkey FOREIGN KEY (workspace_num) REFERENCES workspaces (num) ON DELETE CASCADE');

-- Lists of a workspace replace lists of a user. An interrupted CREATE INDEX CONCURRENTLY leaves an invalid index, which
-- is dropped here and built again. urls_user_created stays: it finds the links that a user has created.
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
CREATE INDEX CONCURRENTLY IF NOT EXISTS urls_workspace_created ON urls (workspace_num, created_at, num);
CREATE INDEX CONCURRENTLY IF NOT EXISTS urls_workspace_updated ON urls (workspace_num, updated_at, num);
CREATE INDEX CONCURRENTLY IF NOT EXISTS urls_workspace_clicks ON urls (workspace_num, click_count, num);
CREATE INDEX CONCURRENTLY IF NOT EXISTS urls_workspace_title ON urls (workspace_num, title, num);
CREATE INDEX CONCURRENTLY IF NOT EXISTS urls_workspace_expires ON urls (workspace_num, expires_at, num, active, click_count); -- also counts by state
CREATE INDEX CONCURRENTLY IF NOT EXISTS urls_workspace_slug ON urls (workspace_num, slug, num);
CREATE INDEX IF NOT EXISTS bundles_workspace_created ON bundles (workspace_num, created_at, num);
CREATE INDEX IF NOT EXISTS webhooks_workspace ON webhooks (workspace_num, created_at);
CREATE INDEX IF NOT EXISTS api_keys_workspace ON api_keys (workspace_num, created_at);
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_logs_workspace ON audit_logs (workspace_num, created_at, seq);
-- Without statistics of the new column, PostgreSQL would choose poor plans until the next automatic ANALYZE.
ANALYZE urls;
DROP PROCEDURE migrate_patiently;
SET lock_timeout = '400ms';
RESET statement_timeout;
