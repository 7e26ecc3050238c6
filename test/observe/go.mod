module github.com/shortline/shortline/test/observe

go 1.26.0
