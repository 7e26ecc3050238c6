module github.com/shortline/shortline/client

go 1.26.0
