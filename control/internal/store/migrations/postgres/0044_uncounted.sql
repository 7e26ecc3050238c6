-- +goose Up
-- A process records the hours of clicks before it stores them, and removes them when counters include these clicks. If the process
-- ends in between, another one counts the links of these hours again.
CREATE TABLE uncounted_hours (
	hour    BIGINT NOT NULL, -- Unix milliseconds
	writer  BIGINT NOT NULL, -- number of the process
	seen_at BIGINT NOT NULL, -- when the process was last known to live, in Unix milliseconds
	PRIMARY KEY (hour, writer)
);
-- In addition, all counters are compared with the click store in turn. This is the number of the link that is next.
CREATE TABLE counters_compared (
	id   INTEGER PRIMARY KEY CHECK (id = 1),
	link BIGINT  NOT NULL
);
INSERT INTO counters_compared (id, link) VALUES (1, 0);
