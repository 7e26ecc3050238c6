-- +goose Up
-- Links, bundles, webhooks and API keys belong to a workspace. The previous release knows only users. If it runs again
-- after a rollback, the triggers give each new user a personal workspace, and put what it inserts into it.

-- A personal workspace has the number and the id of its user. Clicks contain the number of the owner, so the clicks of
-- earlier releases already name the workspace. The numbers of other workspaces come from the sequence of users.num.
CREATE TABLE workspaces (
	num         INTEGER PRIMARY KEY,
	id          TEXT    NOT NULL UNIQUE,
	name        TEXT    NOT NULL,
	slug        TEXT    NOT NULL UNIQUE,
	personal_of TEXT    UNIQUE REFERENCES users (id) ON DELETE CASCADE, -- NULL: a workspace for a team
	created_at  BIGINT  NOT NULL,
	updated_at  BIGINT  NOT NULL
);
CREATE TABLE workspace_members (
	workspace_num BIGINT NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	user_id       TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	role          TEXT   NOT NULL CHECK (role IN ('OWNER', 'ADMIN', 'EDITOR', 'VIEWER')),
	created_at    BIGINT NOT NULL,
	PRIMARY KEY (workspace_num, user_id)
);
CREATE INDEX workspace_members_user ON workspace_members (user_id);

-- +goose StatementBegin
CREATE TRIGGER users_workspace AFTER INSERT ON users BEGIN
	INSERT INTO workspaces (num, id, name, slug, personal_of, created_at, updated_at)
	VALUES (NEW.num, NEW.id, 'Personal', 'u-' || replace(NEW.id, '-', ''), NEW.id, NEW.created_at, NEW.created_at);
	INSERT INTO workspace_members (workspace_num, user_id, role, created_at) VALUES (NEW.num, NEW.id, 'OWNER', NEW.created_at);
END;
-- +goose StatementEnd
INSERT INTO workspaces (num, id, name, slug, personal_of, created_at, updated_at)
SELECT num, id, 'Personal', 'u-' || replace(id, '-', ''), id, created_at, created_at FROM users;
INSERT INTO workspace_members (workspace_num, user_id, role, created_at) SELECT num, id, 'OWNER', created_at FROM users;

ALTER TABLE urls ADD COLUMN workspace_num BIGINT REFERENCES workspaces (num);
ALTER TABLE bundles ADD COLUMN workspace_num BIGINT REFERENCES workspaces (num) ON DELETE CASCADE;
ALTER TABLE webhooks ADD COLUMN workspace_num BIGINT REFERENCES workspaces (num) ON DELETE CASCADE;
ALTER TABLE api_keys ADD COLUMN workspace_num BIGINT REFERENCES workspaces (num) ON DELETE CASCADE;
-- Rows of earlier releases have no workspace. Audit rows never change, so only administrators see those.
ALTER TABLE audit_logs ADD COLUMN workspace_num BIGINT;

-- The old indexes go first: every index makes the update of all links slower. urls_user_created stays: it finds the
-- links that a user has created.
DROP INDEX urls_user_updated;
DROP INDEX urls_user_clicks;
DROP INDEX urls_user_title;
DROP INDEX urls_user_expires;
DROP INDEX urls_user_slug;
UPDATE urls SET workspace_num = (SELECT num FROM users WHERE id = user_id);
UPDATE bundles SET workspace_num = (SELECT num FROM users WHERE id = user_id);
UPDATE webhooks SET workspace_num = (SELECT num FROM users WHERE id = user_id);
UPDATE api_keys SET workspace_num = (SELECT num FROM users WHERE id = user_id);

-- SQLite cannot change a row before it is inserted.
-- +goose StatementBegin
CREATE TRIGGER urls_workspace AFTER INSERT ON urls WHEN NEW.workspace_num IS NULL BEGIN
	UPDATE urls SET workspace_num = (SELECT num FROM users WHERE id = NEW.user_id) WHERE num = NEW.num;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER bundles_workspace AFTER INSERT ON bundles WHEN NEW.workspace_num IS NULL BEGIN
	UPDATE bundles SET workspace_num = (SELECT num FROM users WHERE id = NEW.user_id) WHERE num = NEW.num;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER webhooks_workspace AFTER INSERT ON webhooks WHEN NEW.workspace_num IS NULL BEGIN
	UPDATE webhooks SET workspace_num = (SELECT num FROM users WHERE id = NEW.user_id) WHERE id = NEW.id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER api_keys_workspace AFTER INSERT ON api_keys WHEN NEW.workspace_num IS NULL BEGIN
	UPDATE api_keys SET workspace_num = (SELECT num FROM users WHERE id = NEW.user_id) WHERE id = NEW.id;
END;
-- +goose StatementEnd

CREATE INDEX urls_workspace_created ON urls (workspace_num, created_at, num);
CREATE INDEX urls_workspace_updated ON urls (workspace_num, updated_at, num);
CREATE INDEX urls_workspace_clicks ON urls (workspace_num, click_count, num);
CREATE INDEX urls_workspace_title ON urls (workspace_num, title, num);
CREATE INDEX urls_workspace_expires ON urls (workspace_num, expires_at, num, active, click_count); -- also counts by state
CREATE INDEX urls_workspace_slug ON urls (workspace_num, slug, num);
CREATE INDEX bundles_workspace_created ON bundles (workspace_num, created_at, num);
CREATE INDEX webhooks_workspace ON webhooks (workspace_num, created_at);
CREATE INDEX api_keys_workspace ON api_keys (workspace_num, created_at);
CREATE INDEX audit_logs_workspace ON audit_logs (workspace_num, created_at, seq);
