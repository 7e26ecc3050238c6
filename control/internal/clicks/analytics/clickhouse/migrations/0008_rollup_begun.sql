-- Builds that have rows in the rollups, or may have. The search for leftovers reads this table instead of all rows.
CREATE TABLE IF NOT EXISTS rollup_begun{{.OnCluster}} (slot UInt32, build UInt64)
ENGINE = {{.Engine "ReplacingMergeTree" ""}}
ORDER BY (slot, build)
SETTINGS {{.Durable}};
INSERT INTO rollup_begun (slot, build) SELECT DISTINCT slot, build FROM rollup_visits;
