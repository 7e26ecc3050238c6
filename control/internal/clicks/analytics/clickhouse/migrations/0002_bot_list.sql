ALTER TABLE clicks ADD COLUMN IF NOT EXISTS bot_list LowCardinality(String) AFTER geo_version;
