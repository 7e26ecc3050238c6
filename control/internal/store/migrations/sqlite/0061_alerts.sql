-- +goose Up
-- Where alerts are sent.
CREATE TABLE alert_channels (
	num           INTEGER PRIMARY KEY AUTOINCREMENT,
	id            TEXT    NOT NULL UNIQUE,
	workspace_num BIGINT  NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	name          TEXT    NOT NULL,
	kind          TEXT    NOT NULL,                  -- mail, slack, teams or discord
	target        TEXT    NOT NULL,                  -- encrypted: whoever knows such an address can post there
	quiet_from    INTEGER,                           -- minutes of the day; NULL: there are no quiet hours
	quiet_to      INTEGER,
	zone          TEXT    NOT NULL DEFAULT 'UTC',    -- of the quiet hours
	active        BOOLEAN NOT NULL DEFAULT TRUE,
	last_error    TEXT,                              -- of the last message; NULL: it was sent
	last_sent_at  BIGINT,
	created_at    BIGINT  NOT NULL,
	updated_at    BIGINT  NOT NULL
);
CREATE INDEX alert_channels_workspace ON alert_channels (workspace_num, num);

-- What a workspace wants to be told.
CREATE TABLE alert_rules (
	num           INTEGER PRIMARY KEY AUTOINCREMENT,
	id            TEXT    NOT NULL UNIQUE,
	workspace_num BIGINT  NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	name          TEXT    NOT NULL,
	causes        TEXT    NOT NULL,                  -- separated by commas
	link_id       TEXT    NOT NULL DEFAULT '',       -- only this link; '': those of the workspace
	days          INTEGER NOT NULL DEFAULT 7,        -- before the end of a link
	channels      TEXT    NOT NULL DEFAULT '',       -- ids, separated by commas
	active        BOOLEAN NOT NULL DEFAULT TRUE,
	judged_hour   BIGINT  NOT NULL DEFAULT 0,        -- the last hour whose clicks were judged
	created_at    BIGINT  NOT NULL,
	updated_at    BIGINT  NOT NULL
);
CREATE INDEX alert_rules_workspace ON alert_rules (workspace_num, num);

-- One row for each cause and time. Only one alert of a cause is open at a time.
CREATE TABLE alerts (
	num           INTEGER PRIMARY KEY AUTOINCREMENT,
	id            TEXT    NOT NULL UNIQUE,
	rule_num      BIGINT  NOT NULL REFERENCES alert_rules (num) ON DELETE CASCADE,
	workspace_num BIGINT  NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	kind          TEXT    NOT NULL,
	cause         TEXT    NOT NULL,
	summary       TEXT    NOT NULL,
	links         TEXT    NOT NULL,                  -- JSON: some of the links that are concerned
	link_count    BIGINT  NOT NULL,
	fired_at      BIGINT  NOT NULL,
	resolved_at   BIGINT
);
CREATE UNIQUE INDEX alerts_open ON alerts (rule_num, cause) WHERE resolved_at IS NULL;
CREATE INDEX alerts_workspace ON alerts (workspace_num, num);
CREATE INDEX alerts_resolved ON alerts (resolved_at) WHERE resolved_at IS NOT NULL;

-- Messages that wait. They are deleted when they are sent.
CREATE TABLE alert_messages (
	num         INTEGER PRIMARY KEY AUTOINCREMENT,
	alert_num   BIGINT  NOT NULL REFERENCES alerts (num) ON DELETE CASCADE,
	channel_num BIGINT  NOT NULL REFERENCES alert_channels (num) ON DELETE CASCADE,
	event       TEXT    NOT NULL,                    -- fired or resolved
	due_at      BIGINT  NOT NULL,
	attempts    INTEGER NOT NULL DEFAULT 0,
	created_at  BIGINT  NOT NULL,
	UNIQUE (alert_num, channel_num, event)
);
CREATE INDEX alert_messages_due ON alert_messages (due_at);
CREATE INDEX alert_messages_channel ON alert_messages (channel_num);

-- What is known of the clicks of links hour by hour; see package anomaly. A usual link has no row.
CREATE TABLE alert_watches (
	rule_num BIGINT  NOT NULL REFERENCES alert_rules (num) ON DELETE CASCADE,
	link_num BIGINT  NOT NULL,
	alarm    INTEGER NOT NULL,
	seen     INTEGER NOT NULL,
	side     INTEGER NOT NULL,
	calm     INTEGER NOT NULL,
	clicks   REAL    NOT NULL, -- when the alarm fired
	expected REAL    NOT NULL,
	hours    INTEGER NOT NULL,
	PRIMARY KEY (rule_num, link_num)
);

-- Links that can be exhausted soon are few.
CREATE INDEX urls_limited ON urls (workspace_num, num) WHERE max_clicks IS NOT NULL AND exhausted_at IS NULL;
