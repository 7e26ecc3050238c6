-- +goose Up
CREATE TABLE config_head (
	id          INTEGER PRIMARY KEY CHECK (id = 1),
	incarnation BIGINT  NOT NULL,
	revision    BIGINT  NOT NULL
);

CREATE TABLE users (
	num            INTEGER PRIMARY KEY AUTOINCREMENT,
	id             TEXT    NOT NULL UNIQUE,
	email          TEXT    NOT NULL,
	email_key      TEXT    NOT NULL UNIQUE,
	name           TEXT    NOT NULL DEFAULT '',
	role           TEXT    NOT NULL CHECK (role IN ('ADMIN', 'USER')),
	active         BOOLEAN NOT NULL DEFAULT TRUE,
	password_hash  TEXT,
	token_version  BIGINT  NOT NULL DEFAULT 0,
	totp_secret    TEXT,
	totp_enabled   BOOLEAN NOT NULL DEFAULT FALSE,
	totp_last_step BIGINT  NOT NULL DEFAULT 0,
	created_at     BIGINT  NOT NULL,
	updated_at     BIGINT  NOT NULL
);

CREATE TABLE sessions (
	id         TEXT   PRIMARY KEY,
	user_id    TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_expiry ON sessions (expires_at);

CREATE TABLE system_settings (
	id          TEXT   PRIMARY KEY,
	key         TEXT   NOT NULL UNIQUE,
	value       TEXT   NOT NULL,
	description TEXT,
	created_at  BIGINT NOT NULL,
	updated_at  BIGINT NOT NULL
);

CREATE TABLE audit_logs (
	seq         INTEGER PRIMARY KEY,
	id          TEXT   NOT NULL UNIQUE,
	user_id     TEXT,
	action      TEXT   NOT NULL,
	entity_type TEXT   NOT NULL,
	entity_id   TEXT,
	old_value   TEXT,
	new_value   TEXT,
	ip_address  TEXT,
	user_agent  TEXT,
	metadata    TEXT   NOT NULL,
	created_at  BIGINT NOT NULL,
	hash        TEXT   NOT NULL
);
CREATE INDEX audit_logs_created ON audit_logs (created_at, seq);
CREATE INDEX audit_logs_user ON audit_logs (user_id, created_at);
CREATE INDEX audit_logs_entity ON audit_logs (entity_type, entity_id, created_at);
-- +goose StatementBegin
CREATE TRIGGER audit_logs_no_update BEFORE UPDATE ON audit_logs BEGIN SELECT RAISE(ABORT, 'audit_logs is append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_logs_no_delete BEFORE DELETE ON audit_logs BEGIN SELECT RAISE(ABORT, 'audit_logs is append-only'); END;
-- +goose StatementEnd
