module github.com/shortline/shortline/deploy/grafana/generate

go 1.26.0
