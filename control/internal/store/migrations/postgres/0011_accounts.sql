-- +goose Up
-- Failures that anybody can cause, counted once there have been many of them: see audit.AppendCounted. A row goes when
-- its count has been written to the audit log.
CREATE TABLE audit_counts (
	key         TEXT    PRIMARY KEY, -- action and bucket
	action      TEXT    NOT NULL,
	entity_type TEXT    NOT NULL,
	count       BIGINT  NOT NULL, -- in this window, those with rows of their own included
	first_at    BIGINT  NOT NULL, -- of those without a row of their own; 0: none yet
	last_at     BIGINT  NOT NULL,
	address     TEXT    NOT NULL, -- of the latest
	latest      TEXT    NOT NULL, -- its metadata, JSON
	ends_at     BIGINT  NOT NULL
);
CREATE INDEX audit_counts_end ON audit_counts (ends_at);

-- Domains of the emails that a provider may vouch for, with spaces between them; '' means any.
ALTER TABLE oidc_providers ADD COLUMN email_domains TEXT NOT NULL DEFAULT '';
