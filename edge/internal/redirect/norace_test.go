//go:build !race

package redirect_test

const raceEnabled = false
