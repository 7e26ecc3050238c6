-- +goose Up
-- Requests that were sent with an Idempotency-Key, for 24 hours.
CREATE TABLE idempotent_requests (
	id         TEXT    PRIMARY KEY,            -- SHA-256 of the caller, the workspace, the address and the key, in hexadecimal
	body_hash  TEXT    NOT NULL,               -- SHA-256 of the query and the body, in hexadecimal
	held_until BIGINT  NOT NULL,               -- until then, the request may be running; 0: it has ended
	committed  BOOLEAN NOT NULL DEFAULT FALSE, -- the request has changed something
	response   TEXT    NOT NULL DEFAULT '',    -- encrypted; '': there is none
	expires_at BIGINT  NOT NULL
);
CREATE INDEX idempotent_requests_expiry ON idempotent_requests (expires_at);
