-- +goose Up
-- Counts of failures that anybody can cause; see audit.AppendCounted. A row is deleted when its count has been written
-- to the audit log.
CREATE TABLE audit_counts (
	key         TEXT    PRIMARY KEY, -- action and bucket
	action      TEXT    NOT NULL,
	entity_type TEXT    NOT NULL,
	count       INTEGER NOT NULL, -- in this window, including failures with an audit row
	first_at    BIGINT  NOT NULL, -- first failure without an audit row; 0: none yet
	last_at     BIGINT  NOT NULL,
	address     TEXT    NOT NULL, -- of the latest failure
	latest      TEXT    NOT NULL, -- metadata of the latest failure, JSON
	ends_at     BIGINT  NOT NULL
);
CREATE INDEX audit_counts_end ON audit_counts (ends_at);

-- Email domains that a provider may vouch for, separated by spaces; '': any.
ALTER TABLE oidc_providers ADD COLUMN email_domains TEXT NOT NULL DEFAULT '';
