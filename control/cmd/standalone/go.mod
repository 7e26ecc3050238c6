module github.com/shortline/shortline/control/cmd/standalone

go 1.26.0

require (
	github.com/shortline/shortline/control v0.0.0
	github.com/shortline/shortline/edge v0.0.0
	github.com/shortline/shortline/shared v0.0.0
)

require (
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/molecule-man/go-brrr v1.0.1 // indirect
	github.com/valyala/bytebufferpool v1.0.0 // indirect
	github.com/valyala/fasthttp v1.74.0 // indirect
)

replace github.com/shortline/shortline/shared => ../../../shared

replace github.com/shortline/shortline/edge => ../../../edge

replace github.com/shortline/shortline/control => ../..
