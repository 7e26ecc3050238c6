-- +goose Up
-- Certificates of the host names that edges serve, and what a certificate authority needs to issue them. Private keys are
-- sealed. Programs of the previous release do not know the tables.
CREATE TABLE certificates (
	num        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	domain_num BIGINT UNIQUE REFERENCES domains (num) ON DELETE CASCADE, -- NULL: a name of the service itself
	hostname   TEXT COLLATE "C" NOT NULL,
	source     TEXT   NOT NULL, -- ACME or UPLOADED
	status     TEXT   NOT NULL, -- PENDING, ACTIVE or FAILED
	chain      TEXT, -- PEM, the host's own certificate first; NULL: there is none yet
	sealed_key TEXT, -- of the private key
	issuer     TEXT,
	not_before BIGINT NOT NULL, -- 0: there is no certificate
	not_after  BIGINT NOT NULL,
	last_error TEXT, -- of the last order; NULL: it succeeded
	failures   BIGINT NOT NULL, -- orders that failed since the last one that succeeded
	next_at    BIGINT NOT NULL, -- when to order a certificate, or to look whether it is time to renew it
	announced  BIGINT NOT NULL, -- the last announcement of the expiry, in days before it; 0: none
	revision   BIGINT NOT NULL, -- of the last change that edges have to know, for a name of the service
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX certificates_own ON certificates (hostname) WHERE domain_num IS NULL;
CREATE INDEX certificates_next ON certificates (next_at);
CREATE INDEX certificates_failing ON certificates (domain_num) WHERE failures > 0;
CREATE INDEX certificates_end ON certificates (not_after) WHERE not_after > 0;
-- Questions of a certificate authority that edges answer at present.
CREATE TABLE acme_challenges (
	token             TEXT   PRIMARY KEY,
	hostname          TEXT COLLATE "C" NOT NULL,
	key_authorization TEXT   NOT NULL,
	created_at        BIGINT NOT NULL
);
CREATE INDEX acme_challenges_hostname ON acme_challenges (hostname);
-- Files of the ACME client: accounts, keys and certificates. Contents are sealed.
CREATE TABLE acme_files (
	name       TEXT COLLATE "C" PRIMARY KEY,
	sealed     TEXT   NOT NULL,
	size       BIGINT NOT NULL, -- of the content, in bytes
	updated_at BIGINT NOT NULL
);
-- Locks of the ACME client. A lock whose holder has died can be taken when it has expired.
CREATE TABLE acme_locks (
	name       TEXT   PRIMARY KEY,
	holder     TEXT   NOT NULL,
	expires_at BIGINT NOT NULL
);
-- Orders of certificates, for the budget of a certificate authority.
CREATE TABLE acme_orders (
	num        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	directory  TEXT   NOT NULL, -- URL of the certificate authority
	hostname   TEXT   NOT NULL,
	doubtful   BOOLEAN NOT NULL, -- likely to fail, so that only a share of the budget is for such orders
	started_at BIGINT NOT NULL,
	ended_at   BIGINT, -- NULL: in progress, or its control plane was killed
	outcome    TEXT -- NULL like ended_at; '': succeeded; else the error
);
CREATE INDEX acme_orders_started ON acme_orders (directory, started_at);
CREATE INDEX acme_orders_open ON acme_orders (hostname) WHERE ended_at IS NULL;
-- Keys of TLS session tickets, sealed. The second newest encrypts: by the time it is used, all edges have it.
CREATE TABLE ticket_keys (
	num        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	sealed     TEXT   NOT NULL,
	created_at BIGINT NOT NULL,
	revision   BIGINT NOT NULL
);
CREATE INDEX ticket_keys_revision ON ticket_keys (revision);
