ALTER TABLE {{.Table "clicks"}} ADD COLUMN IF NOT EXISTS bot_list LowCardinality(String) AFTER geo_version;
{{if .Cluster}}ALTER TABLE clicks {{.OnCluster}} ADD COLUMN IF NOT EXISTS bot_list LowCardinality(String) AFTER geo_version{{end}};
