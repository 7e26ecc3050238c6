-- The rows of the rollups once more, in the order of owners. A report about a workspace reads its rows in one piece here. In the
-- order of links, they lie between those of all other workspaces. The views add them while a build writes the other tables, also a
-- build of an earlier release. Links that moved to the workspace later are read from the tables in the order of links.
CREATE TABLE IF NOT EXISTS rollup_owner_visits{{.OnCluster}} (
	link Int64, slot UInt32 CODEC(Delta, ZSTD(1)), owner Int64 CODEC(ZSTD(1)), bot Bool,
	variant LowCardinality(String), rule LowCardinality(String), visitor Int64 CODEC(ZSTD(1)),
	country LowCardinality(String), region LowCardinality(String), city LowCardinality(String),
	device LowCardinality(String), os LowCardinality(String), browser LowCardinality(String),
	referer String CODEC(ZSTD(1)), bot_name LowCardinality(String),
	utm_source LowCardinality(String), utm_medium LowCardinality(String), utm_campaign LowCardinality(String),
	utm_term LowCardinality(String), utm_content LowCardinality(String), language LowCardinality(String),
	clicks UInt32 CODEC(T64, ZSTD(1)), last UInt32 CODEC(T64, ZSTD(1)), build UInt64 CODEC(ZSTD(1)), heavy Bool CODEC(ZSTD(1))
)
ENGINE = {{.Engine "MergeTree" ""}}
PARTITION BY toYYYYMM(toDateTime(slot * 900, 'UTC'))
ORDER BY (owner, heavy, slot, link)
SETTINGS {{.Durable}}, ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS rollup_owner_sample{{.OnCluster}} (
	link Int64, slot UInt32 CODEC(Delta, ZSTD(1)), owner Int64 CODEC(ZSTD(1)), bot Bool,
	variant LowCardinality(String), rule LowCardinality(String), visitor Int64 CODEC(ZSTD(1)),
	country LowCardinality(String), region LowCardinality(String), city LowCardinality(String),
	device LowCardinality(String), os LowCardinality(String), browser LowCardinality(String),
	referer String CODEC(ZSTD(1)), bot_name LowCardinality(String),
	utm_source LowCardinality(String), utm_medium LowCardinality(String), utm_campaign LowCardinality(String),
	utm_term LowCardinality(String), utm_content LowCardinality(String), language LowCardinality(String),
	clicks UInt32 CODEC(T64, ZSTD(1)), last UInt32 CODEC(T64, ZSTD(1)), build UInt64 CODEC(ZSTD(1))
)
ENGINE = {{.Engine "MergeTree" ""}}
PARTITION BY toYYYYMM(toDateTime(slot * 900, 'UTC'))
ORDER BY (owner, slot, link)
SETTINGS {{.Durable}}, ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS rollup_owner_counts{{.OnCluster}} (
	link Int64, slot UInt32 CODEC(Delta, ZSTD(1)), owner Int64 CODEC(ZSTD(1)), bot Bool,
	variant LowCardinality(String), rule LowCardinality(String),
	clicks UInt32 CODEC(T64, ZSTD(1)), last UInt32 CODEC(T64, ZSTD(1)), build UInt64 CODEC(ZSTD(1))
)
ENGINE = {{.Engine "MergeTree" ""}}
PARTITION BY toYYYYMM(toDateTime(slot * 900, 'UTC'))
ORDER BY (owner, slot, link)
SETTINGS {{.Durable}}, ttl_only_drop_parts = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS rollup_owner_visited{{.OnCluster}} TO rollup_owner_visits AS
SELECT link, slot, owner, bot, variant, rule, visitor, country, region, city, device, os, browser, referer, bot_name,
	utm_source, utm_medium, utm_campaign, utm_term, utm_content, language, clicks, last, build, heavy
FROM rollup_visits;

CREATE MATERIALIZED VIEW IF NOT EXISTS rollup_owner_sampled{{.OnCluster}} TO rollup_owner_sample AS
SELECT link, slot, owner, bot, variant, rule, visitor, country, region, city, device, os, browser, referer, bot_name,
	utm_source, utm_medium, utm_campaign, utm_term, utm_content, language, clicks, last, build
FROM rollup_visits WHERE visitor < -8070450532247928832;

CREATE MATERIALIZED VIEW IF NOT EXISTS rollup_owner_counted{{.OnCluster}} TO rollup_owner_counts AS
SELECT link, slot, owner, bot, variant, rule, clicks, last, build
FROM rollup_counts;

-- The views have no rows of the builds that are older than they are. Marks make sure that none of these builds counts, so that their
-- slots are built again. Reports read the clicks of a slot until then.
INSERT INTO rollup_marks (slot, writer, n) SELECT slot, rand64(), 1 FROM
	(SELECT DISTINCT slot FROM (SELECT slot FROM rollup_begun UNION ALL SELECT slot FROM rollup_builds));
