module github.com/shortline/shortline/deploy/grafana/generate

go 1.26.0

require github.com/shortline/shortline/shared v0.0.0

replace github.com/shortline/shortline/shared => ../../../shared
