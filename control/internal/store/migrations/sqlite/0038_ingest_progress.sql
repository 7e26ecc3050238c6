-- +goose Up
-- How far processes with the role ingest are with each topic. Programs of the previous release do not know the table.
CREATE TABLE ingest_progress (
	process   TEXT   NOT NULL, -- a random name of one start of a process
	source    TEXT   NOT NULL, -- clicks or conversions
	behind_ms BIGINT NOT NULL, -- age of the oldest message that was not stored
	at        BIGINT NOT NULL, -- by the clock of the database
	PRIMARY KEY (process, source)
);
