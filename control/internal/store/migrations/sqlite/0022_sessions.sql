-- +goose Up
-- Programs of the previous release neither read nor write these columns. Rows that they insert have none of the values.
ALTER TABLE sessions ADD COLUMN last_seen_at BIGINT; -- NULL: not since created_at
ALTER TABLE sessions ADD COLUMN ip TEXT;
ALTER TABLE sessions ADD COLUMN user_agent TEXT;
ALTER TABLE sessions ADD COLUMN second_factor BOOLEAN NOT NULL DEFAULT FALSE; -- whether the sign-in used one

-- The devices from which a user has signed in. A sign-in from another device is reported to the user.
CREATE TABLE known_devices (
	user_id      TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	device       TEXT   NOT NULL, -- SHA-256 of browser, operating system and network
	last_seen_at BIGINT NOT NULL,
	PRIMARY KEY (user_id, device)
);
CREATE INDEX known_devices_seen ON known_devices (last_seen_at);

-- Requests for a new password that are not used yet.
CREATE TABLE password_resets (
	hash       TEXT   PRIMARY KEY, -- SHA-256 of the token
	user_id    TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	expires_at BIGINT NOT NULL
);
CREATE INDEX password_resets_user ON password_resets (user_id);
CREATE INDEX password_resets_expiry ON password_resets (expires_at);
