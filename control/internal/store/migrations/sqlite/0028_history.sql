-- +goose Up
-- States of links before their changes. Links that were created before this release have none until their first change.
-- Programs of the previous release write none: their changes appear in the state before the next change.
CREATE TABLE link_history (
	link_num BIGINT NOT NULL,
	nth      BIGINT NOT NULL, -- counts the changes of the link
	revision BIGINT NOT NULL, -- of the change
	was      BIGINT NOT NULL, -- revision of the link before the change
	at       BIGINT NOT NULL,
	user_id  TEXT,            -- NULL: the system
	action   TEXT   NOT NULL,
	bytes    BIGINT NOT NULL, -- size of this document and of all older ones of the link
	document TEXT   NOT NULL, -- state before the change: link, rules and variants
	PRIMARY KEY (link_num, nth)
);
-- Deleted links, until they are restored or deleted for good. A workspace may be deleted before its links in the trash.
-- Programs of the previous release delete links for good.
CREATE TABLE link_trash (
	num           BIGINT PRIMARY KEY,
	id            TEXT   NOT NULL UNIQUE,
	workspace_num BIGINT NOT NULL,
	slug          TEXT   NOT NULL,
	title         TEXT,
	expires_at    BIGINT,
	click_count   BIGINT NOT NULL,
	created_at    BIGINT NOT NULL,
	updated_at    BIGINT NOT NULL,
	search_text   TEXT   NOT NULL,
	deleted_at    BIGINT NOT NULL,
	deleted_by    TEXT,
	document      TEXT   NOT NULL -- link, rules, variants, positions in bundles
);
CREATE INDEX link_trash_workspace ON link_trash (workspace_num, deleted_at, num);
CREATE INDEX link_trash_deleted ON link_trash (deleted_at, num);
