ALTER TABLE clicks ADD COLUMN IF NOT EXISTS participant UInt64 CODEC(ZSTD(1)) AFTER language;

-- Conversions, with the columns of their clicks. Of the rows of a key, the one with the highest version is kept: see
-- analytics.Conversion.Version. ts is the time of the click.
CREATE TABLE IF NOT EXISTS conversions{{.OnCluster}} (
	edge UInt64, epoch UInt32, lane UInt8, seq UInt64,
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
	geo_version LowCardinality(String), bot_list LowCardinality(String),
	edge_name LowCardinality(String), edge_region LowCardinality(String), language LowCardinality(String),
	participant UInt64 CODEC(ZSTD(1)),
	tag UInt64 CODEC(ZSTD(1)), goal LowCardinality(String), once String CODEC(ZSTD(1)),
	value Int64 CODEC(ZSTD(1)), currency LowCardinality(String), external_id String CODEC(ZSTD(1)),
	repeatable Bool, occurred_at Int64 CODEC(ZSTD(1)), received_at Int64 CODEC(ZSTD(1)),
	sender Int64, browser_sent Bool, attributed Bool, version UInt64 CODEC(ZSTD(1))
)
ENGINE = {{.Engine "ReplacingMergeTree" "version"}}
PARTITION BY toYYYYMM(ts)
ORDER BY (toDate(ts), link, ts, tag, goal, once)
SETTINGS {{.Durable}}, min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1;
