-- +goose Up
CREATE TABLE oidc_providers (
	id            TEXT    PRIMARY KEY,
	slug          TEXT    NOT NULL UNIQUE,
	name          TEXT    NOT NULL,
	discovery_url TEXT    NOT NULL,
	client_id     TEXT    NOT NULL,
	client_secret TEXT    NOT NULL, -- sealed
	scopes        TEXT    NOT NULL,
	active        BOOLEAN NOT NULL,
	created_at    BIGINT  NOT NULL,
	updated_at    BIGINT  NOT NULL
);

-- Who at a provider is which user. The issuer is part of it: a provider that is pointed at another issuer later
-- does not bring that issuer's people in under the old one's subjects.
CREATE TABLE oidc_accounts (
	id            TEXT   PRIMARY KEY,
	provider_id   TEXT   NOT NULL REFERENCES oidc_providers (id) ON DELETE CASCADE,
	user_id       TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	issuer        TEXT   NOT NULL,
	subject       TEXT   NOT NULL,
	email         TEXT   NOT NULL,
	created_at    BIGINT NOT NULL,
	last_login_at BIGINT NOT NULL,
	UNIQUE (provider_id, issuer, subject)
);
CREATE INDEX oidc_accounts_user ON oidc_accounts (user_id, created_at);
