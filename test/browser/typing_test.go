package browser_test

import (
	"context"
	"errors"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// keys presses keys one after another.
func (b *browser) keys(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.actions++
		b.do(typed(k))
	}
}

// typed presses and releases the key of each character. A page that prevents the press of a key prevents its character too, as with a
// keyboard. chromedp.KeyEvent sends the character as an event of its own, which then presses whatever has the focus by now.
func typed(text string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		for _, r := range text {
			events := kb.Encode(r)
			down, up := events[0], events[len(events)-1]
			if char := events[1]; char.Type == input.KeyChar {
				down.Text, down.UnmodifiedText = char.Text, char.UnmodifiedText
			} else {
				down.Type = input.KeyRawDown
			}
			if err := errors.Join(down.Do(ctx), up.Do(ctx)); err != nil {
				return err
			}
		}
		return nil
	})
}

// insist presses Escape three times. Browsers close a dialog at the second one without asking the page.
func (b *browser) insist() {
	b.t.Helper()
	for range 3 {
		b.keys(kb.Escape)
		b.settle()
	}
}
