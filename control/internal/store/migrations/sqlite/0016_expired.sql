-- +goose Up
-- Counters (clicks of a link or a variant, matches of a rule) include all clicks ever. If clicks are kept for a limited
-- time, clicks before a certain time are counted once, here. The click store counts only the later ones.
CREATE TABLE expired_clicks (
	id      INTEGER PRIMARY KEY CHECK (id = 1),
	through BIGINT  NOT NULL -- Unix milliseconds; earlier clicks are counted here
);
INSERT INTO expired_clicks (id, through) VALUES (1, 0);
CREATE TABLE expired_counts (
	kind    TEXT   NOT NULL, -- link, variant or rule
	id      TEXT   NOT NULL, -- for a link: its number
	clicks  BIGINT NOT NULL,
	last_at BIGINT NOT NULL, -- newest match of a rule, else 0
	PRIMARY KEY (kind, id)
);
