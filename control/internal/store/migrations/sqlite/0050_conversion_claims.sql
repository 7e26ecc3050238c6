-- +goose Up
-- The conversion that counts for each number (externalId) of a shop, within a workspace and a name.
CREATE TABLE conversion_claims (
	id         TEXT    PRIMARY KEY, -- hash of the workspace, the name and the number
	link_num   INTEGER NOT NULL,    -- with the next two: the click
	clicked_at INTEGER NOT NULL,
	tag        INTEGER NOT NULL,
	claimed_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX conversion_claims_claimed_at ON conversion_claims (claimed_at);
