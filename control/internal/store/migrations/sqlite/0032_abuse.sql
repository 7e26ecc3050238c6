-- +goose Up
-- Programs of the previous release do not know these tables.

-- Requests for slugs that do not exist, per UTC day. Edges report the most frequent ones.
CREATE TABLE missing_slugs (
	day      INTEGER NOT NULL, -- days since 1970-01-01
	host     TEXT   NOT NULL, -- '': the host of BASE_URL
	slug     TEXT   NOT NULL,
	count    INTEGER NOT NULL,
	first_at INTEGER NOT NULL,
	last_at  INTEGER NOT NULL,
	PRIMARY KEY (day, host, slug)
);

-- The last batch of missing slugs that was counted, for each edge. A batch that is sent again is not counted again.
CREATE TABLE missing_marks (
	edge    TEXT   PRIMARY KEY,
	run     TEXT   NOT NULL,
	seq     INTEGER NOT NULL,
	seen_at INTEGER NOT NULL
);

-- The queue of links that administrators should look at. There is at most one open case per link and source. Cases outlive
-- their links.
CREATE TABLE abuse_cases (
	id            TEXT   PRIMARY KEY,
	url_id        TEXT   NOT NULL,
	workspace_num INTEGER NOT NULL,
	slug          TEXT   NOT NULL,
	source        TEXT   NOT NULL CHECK (source IN ('VISITOR', 'BLOCKLIST', 'CHECK')),
	status        TEXT   NOT NULL CHECK (status IN ('OPEN', 'DISMISSED', 'ACTIONED')),
	detail        TEXT   NOT NULL, -- the blocked destination and why; '' for reports of visitors
	reports       INTEGER NOT NULL,
	reasons       TEXT   NOT NULL, -- JSON: how many reports gave each reason
	messages      TEXT   NOT NULL, -- JSON: texts of the first reports
	created_at    INTEGER NOT NULL,
	last_at       INTEGER NOT NULL,
	resolved_at   INTEGER,
	resolved_by   TEXT              -- id of a user; NULL: the service
);
CREATE UNIQUE INDEX abuse_cases_open ON abuse_cases (url_id, source) WHERE status = 'OPEN';
CREATE INDEX abuse_cases_status ON abuse_cases (status, last_at, id);
CREATE INDEX abuse_cases_url ON abuse_cases (url_id);

-- How far the checks of all destinations are. One process at a time runs a check.
CREATE TABLE destination_checks (
	name        TEXT   PRIMARY KEY, -- BLOCKLIST or CHECK
	version     TEXT   NOT NULL,    -- of what the check compares with; another one starts the check again
	after_num   INTEGER NOT NULL,    -- links up to this number are done
	started_at  INTEGER NOT NULL,
	finished_at INTEGER NOT NULL,    -- 0: it is not finished
	holder      TEXT   NOT NULL,
	lease_until INTEGER NOT NULL
);
