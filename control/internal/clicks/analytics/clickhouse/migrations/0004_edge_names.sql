ALTER TABLE {{.Table "clicks"}} ADD COLUMN IF NOT EXISTS edge_name LowCardinality(String) AFTER bot_list;
ALTER TABLE {{.Table "clicks"}} ADD COLUMN IF NOT EXISTS edge_region LowCardinality(String) AFTER edge_name;
{{if .Cluster}}ALTER TABLE clicks {{.OnCluster}} ADD COLUMN IF NOT EXISTS edge_name LowCardinality(String) AFTER bot_list{{end}};
{{if .Cluster}}ALTER TABLE clicks {{.OnCluster}} ADD COLUMN IF NOT EXISTS edge_region LowCardinality(String) AFTER edge_name{{end}};
