//go:build race

package redirect_test

const raceEnabled = true
