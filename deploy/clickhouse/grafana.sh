#!/bin/bash
# A user for dashboards, who reads the clicks and nothing else. May run again: the password is then set anew.
set -euo pipefail
secret() { cat "/run/secrets/$1"; }
clickhouse-client --host clickhouse --user shortline --password "$(secret clickhouse_password)" --multiquery <<SQL
CREATE SETTINGS PROFILE IF NOT EXISTS shortline_readonly
  SETTINGS readonly = 1, max_execution_time = 30 MAX 60 CHANGEABLE_IN_READONLY, max_memory_usage = 1073741824;
CREATE USER IF NOT EXISTS grafana SETTINGS PROFILE 'shortline_readonly';
ALTER USER grafana IDENTIFIED WITH sha256_password BY '$(secret grafana_clickhouse_password)';
GRANT SELECT ON shortline.* TO grafana;
SQL
