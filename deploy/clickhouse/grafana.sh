#!/bin/bash
# Creates a user for dashboards that can only read clicks. A second run sets the password and the limits again. A
# duplicate of a click is always in the same month, so FINAL can process each month separately. A month with a single
# part then costs no more than without FINAL. Servers do not copy users from each other, so each one in CLICKHOUSE_HOSTS gets
# the user.
set -euo pipefail
secret() { cat "/run/secrets/$1"; }
for host in ${CLICKHOUSE_HOSTS:-clickhouse}; do
  clickhouse-client --host "$host" --user shortline --password "$(secret clickhouse_password)" --multiquery <<SQL
CREATE SETTINGS PROFILE IF NOT EXISTS shortline_readonly;
ALTER SETTINGS PROFILE shortline_readonly
  SETTINGS readonly = 1, max_execution_time = 30 MAX 60 CHANGEABLE_IN_READONLY, max_memory_usage = 1073741824,
    do_not_merge_across_partitions_select_final = 1;
CREATE USER IF NOT EXISTS grafana SETTINGS PROFILE 'shortline_readonly';
ALTER USER grafana IDENTIFIED WITH sha256_password BY '$(secret grafana_clickhouse_password)';
GRANT SELECT ON shortline.* TO grafana;
SQL
done
