module github.com/shortline/shortline/edge

go 1.26

require github.com/shortline/shortline/shared v0.0.0

replace github.com/shortline/shortline/shared => ../shared
