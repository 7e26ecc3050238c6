#!/usr/bin/env bash
# Writes the licences of what DuckDB contains, as its source release of a version has them, for the program
# licences. Its arguments: the version of the Go module, DuckDB's own, and the sha256 of the archive at PyPI.
#
#   duckdb.sh v0.10505.0 1.5.5 72f33ee57ca7595b23957671a2cc7f7fe2be0ecc2d68f63abedcfcaa3a5c1238
#
# The generators of TPC-H and TPC-DS are left out, since the linker leaves them out as well: a test looks.
set -euo pipefail
module=$1 release=$2 sum=$3
to=$(cd "$(dirname "$0")" && pwd)/texts/duckdb-$module.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pip download --quiet --no-deps --no-binary duckdb --dest "$work" "duckdb==$release"
echo "$sum  $work/duckdb-$release.tar.gz" | sha256sum --check --quiet
tar --extract --gzip --file "$work/duckdb-$release.tar.gz" --directory "$work"
cd "$work/duckdb-$release/external/duckdb"
{
  for file in third_party/*/LICENSE third_party/*/NOTICES third_party/thrift/thrift/LICENSE extension/icu/third_party/icu/LICENSE \
    src/include/duckdb/storage/compression/alp/algorithm/LICENSE; do
    part=${file%/*} part=${part%/thrift} part=${part%/algorithm}
    printf '== %s (%s)\n\n' "${part##*/}" "${file##*/}"
    sed 's/\r$//; s/[[:space:]]*$//' "$file"
    printf '\n'
  done
} | cat --squeeze-blank >"$to"
