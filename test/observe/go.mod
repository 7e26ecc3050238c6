module github.com/shortline/shortline/test/observe

go 1.26.0

require (
	github.com/shortline/shortline/client v0.0.0
	github.com/shortline/shortline/shared v0.0.0
)

replace github.com/shortline/shortline/client => ../../client

replace github.com/shortline/shortline/shared => ../../shared
