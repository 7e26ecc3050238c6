-- The clicks of each quarter hour (slot: quarter hours since 1970), without the columns that identify single clicks.
-- This copy is smaller, has no repetitions, and is ordered by link. rollup_builds names the rows that count: those of
-- the build that is chosen for their slot. All others are leftovers.
CREATE TABLE IF NOT EXISTS rollup_visits{{.OnCluster}} (
	link Int64, slot UInt32 CODEC(Delta, ZSTD(1)), owner Int64 CODEC(ZSTD(1)), bot Bool,
	variant LowCardinality(String), rule LowCardinality(String), visitor Int64 CODEC(ZSTD(1)),
	country LowCardinality(String), region LowCardinality(String), city LowCardinality(String),
	device LowCardinality(String), os LowCardinality(String), browser LowCardinality(String),
	referer String CODEC(ZSTD(1)), bot_name LowCardinality(String),
	utm_source LowCardinality(String), utm_medium LowCardinality(String), utm_campaign LowCardinality(String),
	utm_term LowCardinality(String), utm_content LowCardinality(String),
	clicks UInt32 CODEC(T64, ZSTD(1)), last UInt32 CODEC(T64, ZSTD(1)), build UInt64 CODEC(ZSTD(1))
)
ENGINE = {{.Engine "MergeTree" ""}}
PARTITION BY toYYYYMM(toDateTime(slot * 900, 'UTC'))
ORDER BY (link, slot, visitor)
SETTINGS {{.Durable}}, ttl_only_drop_parts = 1;

-- The same, without the columns that distinguish visitors.
CREATE TABLE IF NOT EXISTS rollup_counts{{.OnCluster}} (
	link Int64, slot UInt32 CODEC(Delta, ZSTD(1)), owner Int64 CODEC(ZSTD(1)), bot Bool,
	variant LowCardinality(String), rule LowCardinality(String),
	clicks UInt32 CODEC(T64, ZSTD(1)), last UInt32 CODEC(T64, ZSTD(1)), build UInt64 CODEC(ZSTD(1))
)
ENGINE = {{.Engine "MergeTree" ""}}
PARTITION BY toYYYYMM(toDateTime(slot * 900, 'UTC'))
ORDER BY (link, slot, bot, variant, rule)
SETTINGS {{.Durable}}, ttl_only_drop_parts = 1;

-- The links that each owner has or had. It may contain more than exist.
CREATE TABLE IF NOT EXISTS rollup_owners{{.OnCluster}} (owner Int64, link Int64)
ENGINE = {{.Engine "ReplacingMergeTree" ""}}
ORDER BY (owner, link)
SETTINGS {{.Durable}};

-- How often each writer has written to a slot. The sum over a slot's writers rises with each write.
CREATE TABLE IF NOT EXISTS rollup_marks{{.OnCluster}} (slot UInt32, writer UInt64, n UInt64)
ENGINE = {{.Engine "ReplacingMergeTree" "n"}}
ORDER BY (slot, writer)
SETTINGS {{.Durable}};

-- Finished builds of slots, each with the sum of the marks before it began. A build counts while the sum is unchanged.
CREATE TABLE IF NOT EXISTS rollup_builds{{.OnCluster}} (slot UInt32, marks UInt64, build UInt64)
ENGINE = {{.Engine "MergeTree" ""}}
ORDER BY (slot, marks, build)
SETTINGS {{.Durable}};

-- Marks for clicks that were stored before marks existed.
INSERT INTO rollup_marks (slot, writer, n) SELECT DISTINCT toUInt32(intDiv(toUnixTimestamp64Milli(ts), 900000)), 0, 1 FROM clicks;
