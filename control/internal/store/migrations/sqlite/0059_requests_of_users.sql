-- +goose Up
-- The provider sends no email_verified, and its administrators say that its addresses are right, within email_domains.
ALTER TABLE oidc_providers ADD COLUMN trust_email BOOLEAN NOT NULL DEFAULT FALSE;

-- A change of many links, which a job makes in steps and can take back.
CREATE TABLE link_edits (
	num           INTEGER PRIMARY KEY AUTOINCREMENT,
	id            TEXT   NOT NULL UNIQUE,
	workspace_num BIGINT NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	user_id       TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	status        TEXT   NOT NULL, -- RUNNING, DONE, UNDOING, UNDONE or FAILED
	change        TEXT   NOT NULL, -- JSON
	total         BIGINT NOT NULL, -- links
	done          BIGINT NOT NULL, -- links from the first one on that the present pass has finished
	changed       BIGINT NOT NULL,
	failed        BIGINT NOT NULL,
	undone        BIGINT NOT NULL,
	failure       TEXT   NOT NULL, -- why the edit has the status FAILED
	holder        TEXT   NOT NULL, -- the process that makes a step
	lease_until   BIGINT NOT NULL, -- by the clock of the database
	created_at    BIGINT NOT NULL,
	finished_at   BIGINT
);
CREATE INDEX link_edits_workspace ON link_edits (workspace_num, num);
CREATE INDEX link_edits_user ON link_edits (user_id);
CREATE INDEX link_edits_running ON link_edits (lease_until, num) WHERE status IN ('RUNNING', 'UNDOING');

CREATE TABLE link_edit_links (
	edit_num BIGINT NOT NULL REFERENCES link_edits (num) ON DELETE CASCADE,
	nth      BIGINT NOT NULL, -- from 0
	url_id   TEXT   NOT NULL,
	before   TEXT   NOT NULL, -- JSON: what the edit has changed; empty: nothing
	after    TEXT   NOT NULL, -- JSON
	field    TEXT   NOT NULL, -- of the problem
	message  TEXT   NOT NULL, -- why the link was not changed, or not changed back; empty: no problem
	PRIMARY KEY (edit_num, nth)
);
