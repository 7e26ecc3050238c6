-- +goose Up
-- E-mails that wait to be sent. Claiming a row moves due_at to the end of the lease. Programs of the previous release do
-- not know the table.
CREATE TABLE mail_outbox (
	id         TEXT    PRIMARY KEY, -- also the Message-ID, so repeats can be recognised
	recipient  TEXT    NOT NULL,    -- address
	kind       TEXT    NOT NULL,
	content    TEXT    NOT NULL,    -- encrypted, because it holds links that work once
	attempts   INTEGER NOT NULL DEFAULT 0,
	due_at     BIGINT  NOT NULL,
	lease      TEXT    NOT NULL DEFAULT '',
	last_error TEXT    NOT NULL DEFAULT '',
	created_at BIGINT  NOT NULL,
	expires_at BIGINT  NOT NULL     -- from then on the e-mail is useless
);
CREATE INDEX mail_outbox_due ON mail_outbox (due_at);
CREATE INDEX mail_outbox_created ON mail_outbox (created_at);
