-- +goose Up
-- Workspaces whose clicks move to another shard. SQLite has the tables only so that numbers of migrations are the same.
CREATE TABLE click_shard_moves (
	workspace_num BIGINT PRIMARY KEY,
	move          BIGINT NOT NULL, -- a random number; workspaces that have exchanged links move together
	source        TEXT   NOT NULL REFERENCES click_shards (name),
	target        TEXT   NOT NULL REFERENCES click_shards (name),
	phase         TEXT   NOT NULL, -- ANNOUNCED, BOTH, SWITCHED or CANCELLED
	runner        BIGINT NOT NULL, -- a random number of the program that runs the move
	runner_host   TEXT   NOT NULL,
	runner_at     BIGINT NOT NULL  -- when it was last seen, Unix milliseconds by the clock of the database
);
-- One row. The version rises with every change of a move, so that processes notice it.
CREATE TABLE click_shard_directory (version BIGINT NOT NULL);
INSERT INTO click_shard_directory (version) VALUES (1);
-- Up to which version of the directory a process has ended all writes and reads that began with an older one. A program of
-- the previous release never acknowledges a version, so no move proceeds while it runs.
ALTER TABLE click_shard_processes ADD COLUMN writes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE click_shard_processes ADD COLUMN reads BIGINT NOT NULL DEFAULT 0;
