-- +goose Up
-- Clicks of people at links with a limit, as edges report them. Every change takes the next mark and thereby a lock, so
-- marks commit in order. A link may get its limit several times; since tells them apart (urls.limit_since).
CREATE TABLE limit_head (
	id   INTEGER PRIMARY KEY CHECK (id = 1),
	mark BIGINT  NOT NULL
);
INSERT INTO limit_head (id, mark) VALUES (1, 0);

CREATE TABLE limit_counts (
	link    BIGINT NOT NULL, -- number of the link
	since   BIGINT NOT NULL,
	counter BIGINT NOT NULL, -- random number of an edge's counter
	clicks  BIGINT NOT NULL, -- the highest value that the edge has reported
	PRIMARY KEY (link, since, counter)
);

CREATE TABLE limit_totals (
	link   BIGINT NOT NULL,
	since  BIGINT NOT NULL,
	clicks BIGINT NOT NULL, -- of all counters
	mark   BIGINT NOT NULL,
	PRIMARY KEY (link, since)
);
CREATE INDEX limit_totals_mark ON limit_totals (mark);
