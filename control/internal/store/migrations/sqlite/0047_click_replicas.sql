-- +goose Up
-- Servers that have copies of a shard. A shard on one server has no row. SQLite has the table only so that numbers of migrations
-- are the same.
CREATE TABLE click_replicas (
	shard       TEXT   NOT NULL REFERENCES click_shards (name),
	address     TEXT   NOT NULL, -- host, port and database, as the settings name the server
	identity    TEXT   NOT NULL, -- which the server keeps with its data; empty while it has none
	state       TEXT   NOT NULL, -- IN_SYNC, FILLING, OUT or REMOVED
	reason      TEXT   NOT NULL, -- why it is not in sync, for people
	since       BIGINT NOT NULL, -- when the state was set, Unix milliseconds by the clock of the database
	version     BIGINT NOT NULL, -- of the directory, since when the state applies
	runner      BIGINT NOT NULL DEFAULT 0, -- a random number of the process that fills the server
	runner_at   BIGINT NOT NULL DEFAULT 0, -- when it was last seen, like since
	PRIMARY KEY (shard, address)
);
-- Which version of the directory new reads and writes of a process use, and which servers it has opened. A program of the
-- previous release names none, so no server is filled while it runs.
ALTER TABLE click_shard_processes ADD COLUMN version BIGINT NOT NULL DEFAULT 0;
ALTER TABLE click_shard_processes ADD COLUMN replicas TEXT NOT NULL DEFAULT '';
