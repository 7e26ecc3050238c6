-- +goose Up
-- Imports of links from files. Programs of the previous release do not know the tables.
CREATE TABLE imports (
	num           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id            TEXT    NOT NULL UNIQUE,
	workspace_num BIGINT  NOT NULL REFERENCES workspaces (num) ON DELETE CASCADE,
	user_id       TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	name          TEXT    NOT NULL,
	status        TEXT    NOT NULL, -- MAPPING, RUNNING, DONE, FAILED or CANCELLED
	delimiter     TEXT    NOT NULL,
	columns       TEXT    NOT NULL, -- JSON: name, sample and suggested field of each
	mapping       TEXT    NOT NULL, -- JSON: names of columns by field; empty before the start
	conflicts     TEXT    NOT NULL, -- skip, rename or overwrite; empty before the start
	row_count     BIGINT  NOT NULL,
	done          BIGINT  NOT NULL, -- rows from the first one on that are finished
	created       BIGINT  NOT NULL,
	updated       BIGINT  NOT NULL,
	skipped       BIGINT  NOT NULL,
	renamed       BIGINT  NOT NULL,
	failed        BIGINT  NOT NULL,
	failure       TEXT    NOT NULL, -- why the import has the status FAILED
	holder        TEXT    NOT NULL, -- the process that imports rows
	lease_until   BIGINT  NOT NULL, -- by the clock of the database
	created_at    BIGINT  NOT NULL,
	started_at    BIGINT,
	finished_at   BIGINT
);
CREATE INDEX imports_workspace ON imports (workspace_num, num);
CREATE INDEX imports_user ON imports (user_id);
CREATE INDEX imports_running ON imports (lease_until, num) WHERE status = 'RUNNING';

-- The file of an import is apart, because every step of an import writes its row.
CREATE TABLE import_files (
	import_num BIGINT PRIMARY KEY REFERENCES imports (num) ON DELETE CASCADE,
	content    BYTEA  NOT NULL -- compressed with gzip
);

CREATE TABLE import_problems (
	import_num  BIGINT NOT NULL REFERENCES imports (num) ON DELETE CASCADE,
	line        BIGINT NOT NULL, -- of the row in the file
	part        BIGINT NOT NULL, -- number of the problem in the row
	field       TEXT   NOT NULL,
	column_name TEXT   NOT NULL,
	value       TEXT   NOT NULL,
	message     TEXT   NOT NULL,
	PRIMARY KEY (import_num, line, part)
);
