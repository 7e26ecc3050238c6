-- +goose Up
-- Reports that are sent by e-mail at the end of each week or month.
CREATE TABLE mail_reports (
	num           INTEGER PRIMARY KEY AUTOINCREMENT,
	id            TEXT    NOT NULL UNIQUE,
	workspace_num BIGINT  NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	user_id       TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE, -- who made it; nothing is sent when this user is no ADMIN any more
	segment_num   BIGINT  REFERENCES segments (num) ON DELETE CASCADE,      -- NULL: all clicks
	name          TEXT    NOT NULL,
	every         TEXT    NOT NULL, -- WEEK or MONTH
	timezone      TEXT    NOT NULL, -- IANA name
	active        BOOLEAN NOT NULL,
	due_at        BIGINT  NOT NULL, -- when the next one is sent, Unix milliseconds
	created_at    BIGINT  NOT NULL,
	updated_at    BIGINT  NOT NULL
);
CREATE INDEX mail_reports_due ON mail_reports (due_at) WHERE active;
CREATE INDEX mail_reports_workspace ON mail_reports (workspace_num, num);
CREATE INDEX mail_reports_user ON mail_reports (user_id);
CREATE INDEX mail_reports_segment ON mail_reports (segment_num);

CREATE TABLE mail_report_recipients (
	num           INTEGER PRIMARY KEY AUTOINCREMENT,
	id            TEXT    NOT NULL UNIQUE, -- in links of e-mails, with a MAC
	report_num    BIGINT  NOT NULL REFERENCES mail_reports (num) ON DELETE CASCADE,
	email         TEXT    NOT NULL,
	email_key     TEXT    NOT NULL, -- lower-case address
	member        BOOLEAN NOT NULL, -- added as a member, who needs not confirm, but gets nothing after leaving the workspace
	state         TEXT    NOT NULL, -- PENDING, CONFIRMED or UNSUBSCRIBED
	created_at    BIGINT  NOT NULL, -- or when the address was asked again to confirm
	UNIQUE (report_num, email_key)
);

-- Periods that were sent. A row is written in the transaction that queues the e-mails.
CREATE TABLE mail_report_runs (
	report_num BIGINT NOT NULL REFERENCES mail_reports (num) ON DELETE CASCADE,
	period     TEXT   NOT NULL, -- kind and first day, such as WEEK 2026-11-23
	sent_at    BIGINT NOT NULL,
	PRIMARY KEY (report_num, period)
);

-- E-mails of the last day that asked an address to confirm, for their limits.
CREATE TABLE mail_report_asked (
	id            TEXT   PRIMARY KEY,
	workspace_num BIGINT NOT NULL,
	email_key     TEXT   NOT NULL,
	at            BIGINT NOT NULL
);
CREATE INDEX mail_report_asked_at ON mail_report_asked (at);
