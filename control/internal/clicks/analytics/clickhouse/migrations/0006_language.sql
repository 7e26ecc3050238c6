-- Clicks that are older than this column have no language, so existing rollups are right without it.
ALTER TABLE clicks ADD COLUMN IF NOT EXISTS language LowCardinality(String) AFTER edge_region;
ALTER TABLE rollup_visits ADD COLUMN IF NOT EXISTS language LowCardinality(String) AFTER utm_content;
