-- +goose Up
-- Programs that wait for a user to confirm them in the browser, for ten minutes. They get an API key then.
CREATE TABLE pairings (
	hash         TEXT    PRIMARY KEY,           -- SHA-256 of the device code, which only the program knows, in hexadecimal
	code         TEXT    NOT NULL UNIQUE,       -- what the user compares
	name         TEXT    NOT NULL,              -- what the program calls itself
	ip           TEXT    NOT NULL DEFAULT '',   -- of the program
	status       TEXT    NOT NULL DEFAULT 'PENDING',
	user_id      TEXT    REFERENCES users (id) ON DELETE CASCADE, -- who has confirmed it
	workspace_id TEXT    NOT NULL DEFAULT '',
	key          TEXT    NOT NULL DEFAULT '',   -- JSON: name, scopes and end of the API key, not the key
	created_at   BIGINT  NOT NULL,
	expires_at   BIGINT  NOT NULL
);
CREATE INDEX pairings_expiry ON pairings (expires_at);
