-- +goose Up
-- Conversions and experiments. Programs of the previous release do not know the columns and tables.
ALTER TABLE urls ADD COLUMN track_conversions BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE urls ADD COLUMN stickiness INTEGER NOT NULL DEFAULT 0; -- link.Stickiness
ALTER TABLE workspaces ADD COLUMN click_parameter TEXT; -- name of the query parameter with the click id; NULL: sl_click

-- Web sites of a workspace that send conversions from browsers.
CREATE TABLE conversion_sources (
	workspace_num   INTEGER PRIMARY KEY REFERENCES workspaces (num) ON DELETE CASCADE,
	publishable_key TEXT   NOT NULL UNIQUE,
	hosts           TEXT   NOT NULL, -- JSON: names of hosts
	updated_at      INTEGER NOT NULL
);

-- What edges have to know of conversions has changed: a setting of a workspace, or a new period of keys. There is one row for each name.
CREATE TABLE conversion_news (
	name     TEXT   PRIMARY KEY, -- 'sources', or 'period:' and the number of the period
	revision INTEGER NOT NULL
);

-- The names of conversions of each link.
CREATE TABLE goals (
	link_num   INTEGER NOT NULL,
	name       TEXT   NOT NULL,
	created_at INTEGER NOT NULL,
	PRIMARY KEY (link_num, name)
);

-- One experiment for each link that has one.
CREATE TABLE experiments (
	link_num    INTEGER PRIMARY KEY,
	goal        TEXT   NOT NULL,
	optimize    TEXT   NOT NULL, -- off or bandit
	on_winner   TEXT   NOT NULL, -- notify or promote
	seed        INTEGER NOT NULL, -- of the autopilot's random numbers
	started_at  INTEGER NOT NULL, -- clicks from then on count
	status      TEXT   NOT NULL, -- RUNNING, WINNER, NO_DIFFERENCE or INVALID
	variant_id  TEXT,            -- the winner
	decided_at  INTEGER,
	reason      TEXT   NOT NULL, -- of the status
	paused      TEXT,            -- why the autopilot waits; NULL: it does not
	checked_at  INTEGER NOT NULL, -- when the autopilot last looked
	step        INTEGER NOT NULL, -- how often the autopilot has drawn weights
	revision    INTEGER NOT NULL, -- of the experiment, for ETag
	created_at  INTEGER NOT NULL,
	updated_at  INTEGER NOT NULL
);
CREATE INDEX experiments_running ON experiments (checked_at) WHERE status = 'RUNNING';

-- Every set of weights of an experiment.
CREATE TABLE experiment_weights (
	num        INTEGER PRIMARY KEY AUTOINCREMENT,
	link_num   INTEGER NOT NULL,
	at         INTEGER NOT NULL,
	weights    TEXT   NOT NULL, -- JSON: ids of variants and their weights
	source     TEXT   NOT NULL, -- AUTOPILOT, PROMOTION or OWNER
	reason     TEXT   NOT NULL,
	figures    TEXT   NOT NULL  -- JSON: what the decision was made from
);
CREATE INDEX experiment_weights_link ON experiment_weights (link_num, num);
