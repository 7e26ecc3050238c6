-- +goose Up
-- Certificates of the host names that edges serve, and what a certificate authority needs to issue them. Private keys are
-- sealed. Programs of the previous release do not know the tables.
CREATE TABLE certificates (
	num        INTEGER PRIMARY KEY AUTOINCREMENT,
	domain_num INTEGER UNIQUE REFERENCES domains (num) ON DELETE CASCADE, -- NULL: a name of the service itself
	hostname   TEXT NOT NULL,
	source     TEXT   NOT NULL, -- ACME or UPLOADED
	status     TEXT   NOT NULL, -- PENDING, ACTIVE or FAILED
	chain      TEXT, -- PEM, the host's own certificate first; NULL: there is none yet
	sealed_key TEXT, -- of the private key
	issuer     TEXT,
	not_before INTEGER NOT NULL, -- 0: there is no certificate
	not_after  INTEGER NOT NULL,
	last_error TEXT, -- of the last order; NULL: it succeeded
	failures   INTEGER NOT NULL, -- orders that failed since the last one that succeeded
	next_at    INTEGER NOT NULL, -- when to order a certificate, or to look whether it is time to renew it
	announced  INTEGER NOT NULL, -- the last announcement of the expiry, in days before it; 0: none
	revision   INTEGER NOT NULL, -- of the last change that edges have to know, for a name of the service
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX certificates_own ON certificates (hostname) WHERE domain_num IS NULL;
CREATE INDEX certificates_next ON certificates (next_at);
CREATE INDEX certificates_failing ON certificates (domain_num) WHERE failures > 0;
CREATE INDEX certificates_end ON certificates (not_after) WHERE not_after > 0;
-- Questions of a certificate authority that edges answer at present.
CREATE TABLE acme_challenges (
	token             TEXT   PRIMARY KEY,
	hostname          TEXT NOT NULL,
	key_authorization TEXT   NOT NULL,
	created_at        INTEGER NOT NULL
);
CREATE INDEX acme_challenges_hostname ON acme_challenges (hostname);
-- Files of the ACME client: accounts, keys and certificates. Contents are sealed.
CREATE TABLE acme_files (
	name       TEXT PRIMARY KEY,
	sealed     TEXT   NOT NULL,
	size       INTEGER NOT NULL, -- of the content, in bytes
	updated_at INTEGER NOT NULL
);
-- Locks of the ACME client. A lock whose holder has died can be taken when it has expired.
CREATE TABLE acme_locks (
	name       TEXT   PRIMARY KEY,
	holder     TEXT   NOT NULL,
	expires_at INTEGER NOT NULL
);
-- Orders of certificates, for the budget of a certificate authority.
CREATE TABLE acme_orders (
	num        INTEGER PRIMARY KEY AUTOINCREMENT,
	directory  TEXT   NOT NULL, -- URL of the certificate authority
	hostname   TEXT   NOT NULL,
	doubtful   BOOLEAN NOT NULL, -- likely to fail, so that only a share of the budget is for such orders
	started_at INTEGER NOT NULL,
	ended_at   INTEGER, -- NULL: in progress, or its control plane was killed
	outcome    TEXT -- NULL like ended_at; '': succeeded; else the error
);
CREATE INDEX acme_orders_started ON acme_orders (directory, started_at);
CREATE INDEX acme_orders_open ON acme_orders (hostname) WHERE ended_at IS NULL;
-- Keys of TLS session tickets, sealed. The second newest encrypts: by the time it is used, all edges have it.
CREATE TABLE ticket_keys (
	num        INTEGER PRIMARY KEY AUTOINCREMENT,
	sealed     TEXT   NOT NULL,
	created_at INTEGER NOT NULL,
	revision   INTEGER NOT NULL
);
CREATE INDEX ticket_keys_revision ON ticket_keys (revision);
