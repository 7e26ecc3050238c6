-- +goose Up
-- Reports that people without an account see at an address with a secret token.
CREATE TABLE shared_reports (
	num           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id            TEXT    NOT NULL UNIQUE,
	workspace_num BIGINT  NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	created_by    TEXT    REFERENCES users (id) ON DELETE SET NULL,
	name          TEXT    NOT NULL,
	about         TEXT    NOT NULL,            -- workspace, link, tag, bundle or domain
	target        TEXT    NOT NULL,            -- id of the link, tag or bundle; host name of the domain; '' for the workspace
	selection     TEXT    NOT NULL,            -- JSON: range, time zone, comparison and filters
	show_links    BOOLEAN NOT NULL,
	token_hash    TEXT    NOT NULL UNIQUE,     -- SHA-256 of the token in the address, in hexadecimal
	token_sealed  TEXT    NOT NULL,            -- the token, encrypted with ENCRYPTION_KEY, so that editors can copy the address again
	password_hash TEXT,                        -- bcrypt; NULL: the address is enough
	origins       TEXT    NOT NULL,            -- origins whose pages may embed the report, separated by spaces
	expires_at    BIGINT,                      -- NULL: never
	created_at    BIGINT  NOT NULL,
	updated_at    BIGINT  NOT NULL
);
CREATE INDEX shared_reports_workspace ON shared_reports (workspace_num, created_at, num);
CREATE INDEX shared_reports_creator ON shared_reports (created_by);
