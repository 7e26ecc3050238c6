-- +goose Up
-- Moves of links between workspaces. A click contains the workspace that owned its link when it happened; reports apply
-- these moves, so that a link's clicks follow it. Rows are never changed or deleted: the clicks of a deleted link stay in
-- the totals of its last workspace. Programs of the previous release do not know the tables.
CREATE TABLE link_moves (
	revision BIGINT NOT NULL, -- of the transaction in the log of link changes
	link_num BIGINT NOT NULL,
	from_num BIGINT NOT NULL, -- numbers of workspaces
	to_num   BIGINT NOT NULL,
	PRIMARY KEY (revision, link_num)
);
-- The newest move from or to each workspace. Workspace 0 stands for all.
CREATE TABLE workspace_moves (
	workspace_num BIGINT PRIMARY KEY,
	revision      BIGINT NOT NULL
);
