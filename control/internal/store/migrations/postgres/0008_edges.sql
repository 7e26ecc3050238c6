-- +goose Up
-- Last report of each edge. A second live process with the same id is refused.
CREATE TABLE edge_reports (
	edge     TEXT   PRIMARY KEY,
	run      TEXT   NOT NULL, -- random id of the process
	status   TEXT   NOT NULL, -- report as JSON
	seen_at  BIGINT NOT NULL,
	since    BIGINT NOT NULL, -- first report of this run
	twin     TEXT   NOT NULL, -- run that was last refused; '': none
	twin_at  BIGINT           -- time of that refusal
);

-- Ranges of missing clicks, and the requests to ship them again.
CREATE TABLE click_gaps (
	edge       TEXT    NOT NULL,
	epoch      BIGINT  NOT NULL,
	lane       INTEGER NOT NULL,
	seq_from   BIGINT  NOT NULL,
	seq_to     BIGINT  NOT NULL,
	found_at   BIGINT  NOT NULL,
	seen_at    BIGINT  NOT NULL, -- last time that the range was missing
	due_at     BIGINT,           -- when to request the clicks from the edge; NULL: never
	asked      INTEGER NOT NULL, -- number of requests
	held       BIGINT,           -- clicks that the edge still had; NULL: no answer yet
	refused    TEXT    NOT NULL, -- why the edge could not ship the whole range; '': it could
	PRIMARY KEY (edge, epoch, lane, seq_from, seq_to)
);
CREATE INDEX click_gaps_due ON click_gaps (edge, due_at);
