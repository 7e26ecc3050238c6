-- A click is sent again until it is acknowledged, so a row may occur twice, with the same key and in the same
-- partition. A merge of parts removes one of them; readers never see both, because they read FINAL. If they differ
-- because the geo database changed in between, the first one is kept: its keep is higher. A month without inserts
-- becomes one part after a day, and FINAL then costs nothing.
CREATE TABLE IF NOT EXISTS clicks{{.OnCluster}} (
	edge UInt64, epoch UInt32, lane UInt8, seq UInt64 CODEC(Delta, ZSTD(1)),
	ts DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
	link Int64, owner Int64,
	variant LowCardinality(String), rule LowCardinality(String),
	ip IPv6 CODEC(ZSTD(1)), visitor Int64 CODEC(ZSTD(1)),
	country LowCardinality(String), region LowCardinality(String), city LowCardinality(String),
	device LowCardinality(String), os LowCardinality(String), browser LowCardinality(String),
	referer String CODEC(ZSTD(1)), user_agent String CODEC(ZSTD(1)),
	bot Bool, bot_name LowCardinality(String),
	utm_source LowCardinality(String), utm_medium LowCardinality(String), utm_campaign LowCardinality(String),
	utm_term LowCardinality(String), utm_content LowCardinality(String), utm_id LowCardinality(String),
	utm_source_platform LowCardinality(String),
	geo_version LowCardinality(String),
	keep UInt32 DEFAULT toUInt32(4294967295 - toUnixTimestamp(now())) CODEC(ZSTD(1))
)
ENGINE = {{.Engine "ReplacingMergeTree" "keep"}}
PARTITION BY toYYYYMM(ts)
ORDER BY (toDate(ts), link, edge, epoch, lane, seq)
SETTINGS {{.Durable}}, ttl_only_drop_parts = 1, min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1;

-- The mark of a lane is its highest row.
CREATE TABLE IF NOT EXISTS lane_marks{{.OnCluster}} (
	edge UInt64, epoch UInt32, lane UInt8, seq UInt64
)
ENGINE = {{.Engine "ReplacingMergeTree" "seq"}}
ORDER BY (edge, epoch, lane)
SETTINGS {{.Durable}};

CREATE TABLE IF NOT EXISTS losses{{.OnCluster}} (
	edge UInt64, epoch UInt32, lane UInt8, seq UInt64,
	ts DateTime64(3, 'UTC'), lost_from UInt64, lost_to UInt64
)
ENGINE = {{.Engine "ReplacingMergeTree" ""}}
ORDER BY (edge, epoch, lane, seq)
SETTINGS {{.Durable}};
