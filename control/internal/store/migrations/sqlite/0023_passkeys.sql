-- +goose Up
-- Programs of the previous release neither read nor write these tables. They delete a user with its passkeys.

-- Texts of bytes are base64url without padding, so that both databases compare them in the same way.
CREATE TABLE passkeys (
	id              TEXT    PRIMARY KEY,
	user_id         TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	credential_id   TEXT    NOT NULL UNIQUE, -- chosen by the authenticator, at most 1,023 bytes
	public_key      TEXT    NOT NULL,        -- COSE
	sign_count      BIGINT  NOT NULL,        -- of the newest accepted signature; 0 for authenticators that do not count
	aaguid          TEXT    NOT NULL,        -- model of the authenticator; '': not told
	transports      TEXT    NOT NULL,        -- separated by spaces
	backup_eligible BOOLEAN NOT NULL,
	backed_up       BOOLEAN NOT NULL,
	name            TEXT    NOT NULL,
	created_at      BIGINT  NOT NULL,
	last_used_at    BIGINT,
	cloned_at       BIGINT                   -- newest refusal because the counter did not increase
);
CREATE INDEX passkeys_user ON passkeys (user_id, created_at);

-- Registrations and sign-ins in progress. A row is deleted when its challenge comes back, at whichever replica, so a
-- challenge works once.
CREATE TABLE passkey_ceremonies (
	challenge  TEXT   PRIMARY KEY, -- SHA-256, so that a copy of the database cannot finish a ceremony
	user_id    TEXT   REFERENCES users (id) ON DELETE CASCADE, -- NULL: a sign-in
	session_id TEXT,               -- of the registration's begin; NULL: a sign-in
	expires_at BIGINT NOT NULL
);
CREATE INDEX passkey_ceremonies_user ON passkey_ceremonies (user_id);
CREATE INDEX passkey_ceremonies_expiry ON passkey_ceremonies (expires_at);
