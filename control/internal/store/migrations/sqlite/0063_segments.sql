-- +goose Up
-- Named filters of reports.
CREATE TABLE segments (
	num           INTEGER PRIMARY KEY AUTOINCREMENT,
	id            TEXT    NOT NULL UNIQUE,
	workspace_num BIGINT  NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	name          TEXT    NOT NULL,
	name_key      TEXT    NOT NULL, -- lower-case name
	filters       TEXT    NOT NULL, -- JSON: lists of values, by the names of filters
	created_at    BIGINT  NOT NULL,
	updated_at    BIGINT  NOT NULL,
	UNIQUE (workspace_num, name_key)
);

-- Notes at a time on the charts of reports.
CREATE TABLE annotations (
	num           INTEGER PRIMARY KEY AUTOINCREMENT,
	id            TEXT    NOT NULL UNIQUE,
	workspace_num BIGINT  NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	link_num      BIGINT,           -- NULL: about the whole workspace. Deleted with the link for good, but not when it is moved to the trash.
	user_id       TEXT    REFERENCES users (id) ON DELETE SET NULL, -- who wrote it
	at            BIGINT  NOT NULL, -- what the note is about happened then, Unix milliseconds
	text          TEXT    NOT NULL,
	created_at    BIGINT  NOT NULL,
	updated_at    BIGINT  NOT NULL
);
CREATE INDEX annotations_workspace ON annotations (workspace_num, at, num);
CREATE INDEX annotations_link ON annotations (link_num);
CREATE INDEX annotations_user ON annotations (user_id);
