-- The schema of the first release. It has the number of the last of the migrations that it replaces, so tables that had all of them need
-- none.

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
	geo_version LowCardinality(String), bot_list LowCardinality(String),
	edge_name LowCardinality(String), edge_region LowCardinality(String), language LowCardinality(String),
	participant UInt64 CODEC(ZSTD(1)),
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

-- A copy of the log of links' moves between workspaces, one row for each workspace of a move. The row of workspace 0 says
-- how far the copy reaches. A row may occur twice. Reports read the rows of one workspace.
CREATE TABLE IF NOT EXISTS link_moves{{.OnCluster}} (log Int64, workspace Int64, link Int64, revision Int64, inside UInt8)
ENGINE = {{.Engine "ReplacingMergeTree" ""}}
ORDER BY (log, workspace, link, revision)
SETTINGS {{.Durable}};

-- The clicks of each quarter hour (slot: quarter hours since 1970), without the columns that identify single clicks.
-- This copy is smaller, has no repetitions, and is ordered by link. rollup_builds names the rows that count: those of
-- the build that is chosen for their slot. All others are leftovers. A row is heavy if its link had many clicks in its slot (heavyCell in
-- rollup.go). The index lets the breakdown of a link whose rows are nearly all heavy read only the others.
CREATE TABLE IF NOT EXISTS rollup_visits{{.OnCluster}} (
	link Int64, slot UInt32 CODEC(Delta, ZSTD(1)), owner Int64 CODEC(ZSTD(1)), bot Bool,
	variant LowCardinality(String), rule LowCardinality(String), visitor Int64 CODEC(ZSTD(1)),
	country LowCardinality(String), region LowCardinality(String), city LowCardinality(String),
	device LowCardinality(String), os LowCardinality(String), browser LowCardinality(String),
	referer String CODEC(ZSTD(1)), bot_name LowCardinality(String),
	utm_source LowCardinality(String), utm_medium LowCardinality(String), utm_campaign LowCardinality(String),
	utm_term LowCardinality(String), utm_content LowCardinality(String), language LowCardinality(String),
	clicks UInt32 CODEC(T64, ZSTD(1)), last UInt32 CODEC(T64, ZSTD(1)), build UInt64 CODEC(ZSTD(1)), heavy Bool CODEC(ZSTD(1)),
	INDEX light heavy TYPE minmax GRANULARITY 1
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

-- Builds that have rows in the rollups, or may have. The search for leftovers reads this table instead of all rows.
CREATE TABLE IF NOT EXISTS rollup_begun{{.OnCluster}} (slot UInt32, build UInt64)
ENGINE = {{.Engine "ReplacingMergeTree" ""}}
ORDER BY (slot, build)
SETTINGS {{.Durable}};

-- The rows of rollup_visits whose visitor is in the sample: the number of the visitor is among the lowest sixteenth
-- (analytics.SampleShare). The view adds them while a build writes rollup_visits.
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

-- The clicks of the heavy rows of rollup_visits by value, so that a breakdown need not read these rows. dim is the name of the column.
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

-- The rows of the rollups once more, in the order of owners. A report about a workspace reads its rows in one piece here. In the
-- order of links, they lie between those of all other workspaces. The views add them while a build writes the other tables.
-- Links that moved to the workspace later are read from the tables in the order of links.
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
