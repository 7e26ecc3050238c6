#!/bin/bash
# A user for dashboards, who reads the clicks and nothing else. May run again: the password and the limits are then set
# anew. A click's repeat is always in the month of the first, so that months can be read FINAL each by itself: a month that
# is one part then costs no more than without FINAL.
set -euo pipefail
secret() { cat "/run/secrets/$1"; }
clickhouse-client --host clickhouse --user shortline --password "$(secret clickhouse_password)" --multiquery <<SQL
CREATE SETTINGS PROFILE IF NOT EXISTS shortline_readonly;
ALTER SETTINGS PROFILE shortline_readonly
  SETTINGS readonly = 1, max_execution_time = 30 MAX 60 CHANGEABLE_IN_READONLY, max_memory_usage = 1073741824,
    do_not_merge_across_partitions_select_final = 1;
CREATE USER IF NOT EXISTS grafana SETTINGS PROFILE 'shortline_readonly';
ALTER USER grafana IDENTIFIED WITH sha256_password BY '$(secret grafana_clickhouse_password)';
GRANT SELECT ON shortline.* TO grafana;
SQL
