module github.com/shortline/shortline/shared

go 1.26
