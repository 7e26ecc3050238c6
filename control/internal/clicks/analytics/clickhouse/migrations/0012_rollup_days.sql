-- The rows of rollup_values added up over days of UTC. slot is the first one of the day. A day is built from finished builds of
-- its slots, and counts while these are the builds that count. rollup_day_builds names them.
CREATE TABLE IF NOT EXISTS rollup_day_values{{.OnCluster}} (
	link Int64, dim LowCardinality(String), value String CODEC(ZSTD(1)), slot UInt32 CODEC(Delta, ZSTD(1)),
	owner Int64 CODEC(ZSTD(1)), bot Bool, clicks UInt32 CODEC(T64, ZSTD(1)), build UInt64 CODEC(ZSTD(1))
)
ENGINE = {{.Engine "MergeTree" ""}}
PARTITION BY toYYYYMM(toDateTime(slot * 900, 'UTC'))
ORDER BY (link, dim, value, slot)
SETTINGS {{.Durable}};

-- Finished builds of days, each with the builds of the day's slots, in ascending order.
CREATE TABLE IF NOT EXISTS rollup_day_builds{{.OnCluster}} (slot UInt32, builds Array(UInt64), build UInt64)
ENGINE = {{.Engine "MergeTree" ""}}
ORDER BY (slot, build)
SETTINGS {{.Durable}};

-- The breakdown of a link whose rows are nearly all heavy reads only the others from rollup_visits.
ALTER TABLE rollup_visits ADD INDEX IF NOT EXISTS light heavy TYPE minmax GRANULARITY 1;
ALTER TABLE rollup_visits MATERIALIZE INDEX light;
