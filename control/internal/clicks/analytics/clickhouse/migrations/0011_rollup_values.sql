-- A row of rollup_visits is heavy if its link had many clicks in its slot (heavyCell in rollup.go). rollup_values has the clicks
-- of the heavy rows by value, so that a breakdown need not read them. dim is the name of the column. Builds of an earlier release
-- have no heavy rows.
ALTER TABLE rollup_visits ADD COLUMN IF NOT EXISTS heavy Bool CODEC(ZSTD(1));

CREATE TABLE IF NOT EXISTS rollup_values{{.OnCluster}} (
	link Int64, dim LowCardinality(String), value String CODEC(ZSTD(1)), slot UInt32 CODEC(Delta, ZSTD(1)),
	owner Int64 CODEC(ZSTD(1)), bot Bool, clicks UInt32 CODEC(T64, ZSTD(1)), build UInt64 CODEC(ZSTD(1))
)
ENGINE = {{.Engine "MergeTree" ""}}
PARTITION BY toYYYYMM(toDateTime(slot * 900, 'UTC'))
ORDER BY (link, dim, value, slot)
SETTINGS {{.Durable}}, ttl_only_drop_parts = 1;

-- The view adds them while a build writes rollup_visits. It sees a build in parts, whose counts add up.
CREATE MATERIALIZED VIEW IF NOT EXISTS rollup_valued{{.OnCluster}} TO rollup_values AS
SELECT link, pair.1 AS dim, pair.2 AS value, slot, owner, bot, toUInt32(sum(clicks)) AS clicks, build
FROM rollup_visits
ARRAY JOIN [('country', toString(country)), ('region', toString(region)), ('city', toString(city)), ('device', toString(device)),
	('os', toString(os)), ('browser', toString(browser)), ('referer', referer), ('utm_source', toString(utm_source)),
	('utm_medium', toString(utm_medium)), ('utm_campaign', toString(utm_campaign)), ('utm_term', toString(utm_term)),
	('utm_content', toString(utm_content)), ('language', toString(language))] AS pair
WHERE heavy
GROUP BY link, dim, value, slot, owner, bot, build;
