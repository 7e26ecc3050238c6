-- +goose Up
-- A shard is one ClickHouse service, which copies its data itself. A program of the previous release, which runs during an upgrade, reads
-- click_replicas: it finds that no shard has several servers. It also writes version and replicas of click_shard_processes, so these
-- columns stay.
DROP TABLE click_replicas;
CREATE VIEW click_replicas AS SELECT
	CAST('' AS TEXT) AS shard, CAST('' AS TEXT) AS address, CAST('' AS TEXT) AS identity, CAST('' AS TEXT) AS state, CAST('' AS TEXT) AS reason,
	CAST(0 AS BIGINT) AS since, CAST(0 AS BIGINT) AS version, CAST(0 AS BIGINT) AS runner, CAST(0 AS BIGINT) AS runner_at WHERE 1 = 0;
