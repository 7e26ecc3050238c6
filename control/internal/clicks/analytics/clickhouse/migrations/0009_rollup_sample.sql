-- The rows of rollup_visits whose visitor is in the sample: the number of the visitor is among the lowest sixteenth
-- (analytics.SampleShare). The view adds them while a build writes rollup_visits, also a build of an earlier release.
CREATE TABLE IF NOT EXISTS rollup_sample{{.OnCluster}} (
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
ORDER BY (link, slot, visitor)
SETTINGS {{.Durable}}, ttl_only_drop_parts = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS rollup_sampled{{.OnCluster}} TO rollup_sample AS
SELECT link, slot, owner, bot, variant, rule, visitor, country, region, city, device, os, browser, referer, bot_name,
	utm_source, utm_medium, utm_campaign, utm_term, utm_content, language, clicks, last, build
FROM rollup_visits WHERE visitor < -8070450532247928832;

-- A process may be writing a build that it began before the view. The marks make sure that this build does not count.
INSERT INTO rollup_marks (slot, writer, n) SELECT slot, rand64(), 1 FROM rollup_begun WHERE NOT build IN (SELECT build FROM rollup_builds);

-- The builds that are older than the view. If this is interrupted and repeated, rows are stored twice, which changes no
-- number of visitors.
INSERT INTO rollup_sample (link, slot, owner, bot, variant, rule, visitor, country, region, city, device, os, browser, referer, bot_name,
	utm_source, utm_medium, utm_campaign, utm_term, utm_content, language, clicks, last, build)
SELECT link, slot, owner, bot, variant, rule, visitor, country, region, city, device, os, browser, referer, bot_name,
	utm_source, utm_medium, utm_campaign, utm_term, utm_content, language, clicks, last, build
FROM rollup_visits WHERE visitor < -8070450532247928832
SETTINGS max_execution_time = 0;
