-- +goose Up
-- Saved views of the console's lists and reports. Programs of the previous release do not know the table.
CREATE TABLE saved_views (
	num           INTEGER PRIMARY KEY AUTOINCREMENT,
	id            TEXT    NOT NULL UNIQUE,
	workspace_num BIGINT  NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	user_id       TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	screen        TEXT    NOT NULL, -- links or analytics
	name          TEXT    NOT NULL,
	name_key      TEXT    NOT NULL, -- lower-case name
	query         TEXT    NOT NULL, -- of the console's address, without the question mark
	shared        BOOLEAN NOT NULL,
	position      BIGINT  NOT NULL,
	created_at    BIGINT  NOT NULL,
	updated_at    BIGINT  NOT NULL,
	UNIQUE (workspace_num, user_id, screen, name_key)
);
CREATE INDEX saved_views_user ON saved_views (user_id);
