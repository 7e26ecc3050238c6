module github.com/shortline/shortline/test/harness

go 1.26.0

require (
	github.com/klauspost/compress v1.20.3
	github.com/shortline/shortline/client v0.0.0
	github.com/shortline/shortline/shared v0.0.0
	github.com/twmb/franz-go v1.22.2
	github.com/twmb/franz-go/pkg/kadm v1.18.0
	github.com/twmb/franz-go/pkg/kfake v0.0.0-20260918054303-01f206a7e32c
	github.com/twmb/franz-go/pkg/kmsg v1.15.0
	go.yaml.in/yaml/v3 v3.0.5
)

require (
	github.com/dchest/siphash v1.2.3 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/shortline/shortline/client => ../../client

replace github.com/shortline/shortline/shared => ../../shared
