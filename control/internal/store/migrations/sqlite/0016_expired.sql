-- +goose Up
-- Counters (clicks of a link, of a variant, matches of a rule) are of all clicks that there ever were. Where clicks are kept
-- for a time only, those before a moment are counted once, here, and the click store is asked only for later ones.
CREATE TABLE expired_clicks (
	id      INTEGER PRIMARY KEY CHECK (id = 1),
	through BIGINT  NOT NULL -- Unix milliseconds: clicks before are counted here
);
INSERT INTO expired_clicks (id, through) VALUES (1, 0);
CREATE TABLE expired_counts (
	kind    TEXT   NOT NULL, -- link, variant or rule
	id      TEXT   NOT NULL, -- of a link: its number
	clicks  BIGINT NOT NULL,
	last_at BIGINT NOT NULL, -- of a rule: its newest match, else 0
	PRIMARY KEY (kind, id)
);
