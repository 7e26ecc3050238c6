-- +goose Up
-- What each edge last said of itself. An instance is one process: a second live one under the same id is refused.
CREATE TABLE edge_reports (
	edge     TEXT   PRIMARY KEY,
	run      TEXT   NOT NULL, -- of the process, drawn at its start
	status   TEXT   NOT NULL, -- the report as JSON
	seen_at  BIGINT NOT NULL,
	since    BIGINT NOT NULL, -- when this run was first seen
	twin     TEXT   NOT NULL, -- the run that was last refused, '' if none was
	twin_at  BIGINT           -- when
);

-- Ranges of clicks that went missing on their way, and what was done about them.
CREATE TABLE click_gaps (
	edge       TEXT    NOT NULL,
	epoch      BIGINT  NOT NULL,
	lane       INTEGER NOT NULL,
	seq_from   BIGINT  NOT NULL,
	seq_to     BIGINT  NOT NULL,
	found_at   BIGINT  NOT NULL,
	seen_at    BIGINT  NOT NULL, -- when it was last found
	due_at     BIGINT,           -- when the edge is to be asked for the clicks; NULL: not (any more)
	asked      INTEGER NOT NULL, -- times
	held       BIGINT,           -- clicks that the edge still had; NULL: it hasn't said
	refused    TEXT    NOT NULL, -- why it could not ship all of them, '' if it could
	PRIMARY KEY (edge, epoch, lane, seq_from, seq_to)
);
CREATE INDEX click_gaps_due ON click_gaps (edge, due_at);
