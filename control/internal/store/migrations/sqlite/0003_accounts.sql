-- +goose Up
CREATE TABLE api_keys (
	id           TEXT   PRIMARY KEY,
	user_id      TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	name         TEXT   NOT NULL,
	prefix       TEXT   NOT NULL,
	lookup       TEXT   NOT NULL UNIQUE,
	hash         TEXT   NOT NULL,
	expires_at   BIGINT,
	last_used_at BIGINT,
	created_at   BIGINT NOT NULL
);
CREATE INDEX api_keys_user ON api_keys (user_id, created_at);

CREATE TABLE recovery_codes (
	user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	hash    TEXT NOT NULL,
	PRIMARY KEY (user_id, hash)
);

-- Failed attempts at a password or a code, by target and client.
CREATE TABLE attempt_guards (
	key          TEXT    PRIMARY KEY,
	failures     INTEGER NOT NULL,
	locks        INTEGER NOT NULL,
	locked_until BIGINT  NOT NULL,
	forget_at    BIGINT  NOT NULL
);
CREATE INDEX attempt_guards_forget ON attempt_guards (forget_at);

-- Requests of each client in its current window. These rows may be lost in a crash.
CREATE TABLE rate_counts (
	key     TEXT    PRIMARY KEY,
	count   INTEGER NOT NULL,
	ends_at BIGINT  NOT NULL
);
CREATE INDEX rate_counts_end ON rate_counts (ends_at);

CREATE INDEX users_created ON users (created_at, num);
