-- Clicks that are older than this column have no language, so existing rollups are right without it.
ALTER TABLE {{.Table "clicks"}} ADD COLUMN IF NOT EXISTS language LowCardinality(String) AFTER edge_region;
{{if .Cluster}}ALTER TABLE clicks {{.OnCluster}} ADD COLUMN IF NOT EXISTS language LowCardinality(String) AFTER edge_region{{end}};
ALTER TABLE {{.Table "rollup_visits"}} ADD COLUMN IF NOT EXISTS language LowCardinality(String) AFTER utm_content;
{{if .Cluster}}ALTER TABLE rollup_visits {{.OnCluster}} ADD COLUMN IF NOT EXISTS language LowCardinality(String) AFTER utm_content{{end}};
