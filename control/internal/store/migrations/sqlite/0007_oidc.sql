-- +goose Up
CREATE TABLE oidc_providers (
	id            TEXT    PRIMARY KEY,
	slug          TEXT    NOT NULL UNIQUE,
	name          TEXT    NOT NULL,
	discovery_url TEXT    NOT NULL,
	client_id     TEXT    NOT NULL,
	client_secret TEXT    NOT NULL, -- encrypted
	scopes        TEXT    NOT NULL,
	active        BOOLEAN NOT NULL,
	created_at    BIGINT  NOT NULL,
	updated_at    BIGINT  NOT NULL
);

-- Links identities at a provider to users. The issuer is part of an identity. If a provider is changed to another
-- issuer later, equal subjects of the new issuer are different identities.
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
