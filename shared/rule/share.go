package rule

import (
	"math/bits"
	"strconv"
	"strings"
)

// shareWhole is 100 percent. Authors may write four decimals.
const shareWhole = 100 * shareOne

// shareOne is 1 percent, and shareDecimals the number of its decimals.
const (
	shareOne      = 10_000
	shareDecimals = 4
)

// shareOf returns the visitor's place among all visitors of the link, from 0 to shareWhole-1.
func shareOf(f Facts) uint32 {
	place, _ := bits.Mul64(f.Share(), shareWhole)
	return uint32(place)
}

// Percentile returns the visitor's place among all visitors of the link in percent, from 0 to below 100. A condition on the
// percentage holds for the lower places.
func Percentile(f Facts) float64 { return float64(shareOf(f)) / shareOne }

func (p *parser) shareValue(c *condition, v *value, at *path) {
	if v.shape == shapeNumber || v.shape == shapeText {
		if share, ok := parseShare(strings.TrimSpace(v.text)); ok {
			c.share = share
			return
		}
	}
	p.report(at, "value must be a percentage from 0 to 100 with at most %d decimals, such as 12.5", shareDecimals)
}

// parseShare parses a decimal number into parts of shareWhole.
func parseShare(s string) (uint32, bool) {
	whole, decimals, point := strings.Cut(s, ".")
	if len(decimals) > shareDecimals || point && decimals == "" {
		return 0, false
	}
	decimals += strings.Repeat("0", shareDecimals-len(decimals))
	percent, err := strconv.ParseUint(whole, 10, 8)
	if err != nil {
		return 0, false
	}
	part, err := strconv.ParseUint(decimals, 10, 16)
	share := percent*shareOne + part
	return uint32(share), err == nil && share <= shareWhole
}

// shareTest completes the test of a percentage. The test is constant for 0 and for 100 percent.
func shareTest(share uint32, t *test) {
	t.code, t.a = codeShare, share
	if share == 0 || share == shareWhole {
		t.code, t.a, t.negate = codeNever, 0, share == shareWhole
	}
}
