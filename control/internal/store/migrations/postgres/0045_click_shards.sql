-- +goose Up
-- Click stores of a fleet with several (shards), and the shard of each workspace. Without several shards the tables stay empty.
-- SQLite has them only so that numbers of migrations are the same.
CREATE TABLE click_shards (
	name     TEXT    PRIMARY KEY,
	num      INTEGER NOT NULL UNIQUE, -- the first one, 1, has the clicks from before there were several
	identity TEXT    NOT NULL UNIQUE, -- which the click store keeps with its data
	is_open  BOOLEAN NOT NULL,        -- whether new workspaces are assigned to it
	added_at BIGINT  NOT NULL
);
-- A row stays when the workspace is deleted, because its clicks stay.
CREATE TABLE click_shard_workspaces (
	workspace_num BIGINT PRIMARY KEY,
	shard         TEXT   NOT NULL REFERENCES click_shards (name)
);
CREATE INDEX click_shard_workspaces_shard ON click_shard_workspaces (shard);
-- What each running process knows. A shard is opened only when all of them know it.
CREATE TABLE click_shard_processes (
	process BIGINT PRIMARY KEY, -- a random number
	host    TEXT   NOT NULL,
	shards  TEXT   NOT NULL,    -- names, separated by commas
	seen_at BIGINT NOT NULL     -- Unix milliseconds
);
