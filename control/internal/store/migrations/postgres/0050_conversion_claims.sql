-- +goose Up
-- The conversion that counts for each number (externalId) of a shop, within a workspace and a name.
CREATE TABLE conversion_claims (
	id         TEXT   COLLATE "C" PRIMARY KEY, -- hash of the workspace, the name and the number
	link_num   BIGINT NOT NULL,                -- with the next two: the click
	clicked_at BIGINT NOT NULL,
	tag        BIGINT NOT NULL,
	claimed_at BIGINT NOT NULL
);
CREATE INDEX conversion_claims_claimed_at ON conversion_claims (claimed_at);
