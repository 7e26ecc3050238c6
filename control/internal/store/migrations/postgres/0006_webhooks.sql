-- +goose Up
CREATE TABLE webhooks (
	id            TEXT    PRIMARY KEY,
	user_id       TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	name          TEXT    NOT NULL,
	url           TEXT    NOT NULL,
	secret        TEXT,             -- encrypted
	headers       TEXT,             -- encrypted JSON object
	events        TEXT    NOT NULL, -- names, separated by commas
	every_link    BOOLEAN NOT NULL DEFAULT FALSE,
	active        BOOLEAN NOT NULL DEFAULT TRUE,
	sent          BIGINT  NOT NULL DEFAULT 0,
	succeeded     BIGINT  NOT NULL DEFAULT 0,
	failed        BIGINT  NOT NULL DEFAULT 0,
	last_sent_at  BIGINT,
	last_error    TEXT,
	search_text   TEXT    NOT NULL, -- lower-case name and address, one per line
	created_at    BIGINT  NOT NULL,
	updated_at    BIGINT  NOT NULL
);
CREATE INDEX webhooks_user ON webhooks (user_id, created_at);
CREATE INDEX webhooks_created ON webhooks (created_at);
CREATE INDEX webhooks_every_link ON webhooks (active) WHERE every_link;

-- Deliveries that wait. Claiming a row moves due_at to the end of the lease.
CREATE TABLE webhook_deliveries (
	id         TEXT    PRIMARY KEY,
	webhook_id TEXT    NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
	event_id   TEXT    NOT NULL,
	event      TEXT    NOT NULL,
	payload    TEXT    NOT NULL, -- the body, sent unchanged
	attempts   INTEGER NOT NULL DEFAULT 0,
	due_at     BIGINT  NOT NULL,
	lease      TEXT    NOT NULL DEFAULT '',
	created_at BIGINT  NOT NULL,
	UNIQUE (webhook_id, event_id)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (due_at);
CREATE INDEX webhook_deliveries_next ON webhook_deliveries (webhook_id, due_at, event_id);
CREATE INDEX webhook_deliveries_created ON webhook_deliveries (created_at);

-- All attempts.
CREATE TABLE webhook_logs (
	id          TEXT    PRIMARY KEY,
	webhook_id  TEXT    NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
	delivery_id TEXT    NOT NULL,
	event       TEXT    NOT NULL,
	payload     TEXT    NOT NULL,
	success     BOOLEAN NOT NULL,
	status_code INTEGER,
	response    TEXT,
	error       TEXT,
	duration    BIGINT  NOT NULL, -- milliseconds
	attempt     INTEGER NOT NULL,
	sent_at     BIGINT  NOT NULL
);
CREATE INDEX webhook_logs_webhook ON webhook_logs (webhook_id, sent_at, id);
CREATE INDEX webhook_logs_delivery ON webhook_logs (delivery_id);
CREATE INDEX webhook_logs_sent ON webhook_logs (sent_at);
