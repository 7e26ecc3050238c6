ALTER TABLE clicks ADD COLUMN IF NOT EXISTS edge_name LowCardinality(String) AFTER bot_list;
ALTER TABLE clicks ADD COLUMN IF NOT EXISTS edge_region LowCardinality(String) AFTER edge_name;
