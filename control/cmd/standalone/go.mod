module github.com/shortline/shortline/control/cmd/standalone

go 1.26

require (
	github.com/shortline/shortline/control v0.0.0
	github.com/shortline/shortline/edge v0.0.0
	github.com/shortline/shortline/shared v0.0.0
)

replace github.com/shortline/shortline/shared => ../../../shared

replace github.com/shortline/shortline/edge => ../../../edge

replace github.com/shortline/shortline/control => ../..
