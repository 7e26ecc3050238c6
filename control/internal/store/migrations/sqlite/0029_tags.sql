-- +goose Up
-- Tags of links and templates of campaign fields. Programs of the previous release do not know the tables; the trigger
-- takes the tags from links that they move to another workspace.
CREATE TABLE tags (
	num           INTEGER PRIMARY KEY AUTOINCREMENT,
	id            TEXT    NOT NULL UNIQUE,
	workspace_num BIGINT  NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	name          TEXT    NOT NULL,
	name_key      TEXT    NOT NULL, -- lower-case name
	color         TEXT    NOT NULL,
	created_at    BIGINT  NOT NULL,
	updated_at    BIGINT  NOT NULL,
	UNIQUE (workspace_num, name_key)
);
CREATE TABLE url_tags (
	tag_num BIGINT NOT NULL REFERENCES tags (num) ON DELETE CASCADE,
	url_num BIGINT NOT NULL REFERENCES urls (num) ON DELETE CASCADE,
	PRIMARY KEY (tag_num, url_num)
) WITHOUT ROWID;
CREATE INDEX url_tags_url ON url_tags (url_num, tag_num);
-- +goose StatementBegin
CREATE TRIGGER urls_leave_tags AFTER UPDATE OF workspace_num ON urls WHEN OLD.workspace_num <> NEW.workspace_num BEGIN
	DELETE FROM url_tags WHERE url_num = NEW.num;
END;
-- +goose StatementEnd

CREATE TABLE utm_templates (
	num                 INTEGER PRIMARY KEY AUTOINCREMENT,
	id                  TEXT    NOT NULL UNIQUE,
	workspace_num       BIGINT  NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	name                TEXT    NOT NULL,
	name_key            TEXT    NOT NULL, -- lower-case name
	utm_source          TEXT,
	utm_medium          TEXT,
	utm_campaign        TEXT,
	utm_term            TEXT,
	utm_content         TEXT,
	utm_id              TEXT,
	utm_source_platform TEXT,
	created_at          BIGINT  NOT NULL,
	updated_at          BIGINT  NOT NULL,
	UNIQUE (workspace_num, name_key)
);
