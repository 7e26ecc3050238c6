package rule

import (
	"strings"

	"github.com/shortline/shortline/shared/click"
)

// param is a condition on a query parameter.
type param struct {
	name span
	test test // compares the parameter's value
}

// maxParam is the maximum length of a parameter's value in bytes, as for campaign parameters. link.MaxParamValue is the
// same number.
const maxParam = click.MaxUTM

// param completes the test of a query parameter.
func (c *compiler) param(l *condition, t *test) {
	c.text = append(c.text, l.name...)
	one := param{name: span{uint32(len(c.text) - len(l.name)), uint32(len(l.name))}, test: test{field: fieldCount}}
	c.comparison(l, &one.test)
	t.code, t.a = codeParam, uint32(len(c.p.params))
	c.p.params = append(c.p.params, one)
}

func (p *parser) paramValue(c *condition, v *value, at *path) {
	if v.shape != shapeObject {
		p.report(at, "value must be {name, value} with the name of a query parameter")
		return
	}
	var name, text *value
	p.object(v, at, keyed{"name", &name}, keyed{"value", &text})
	switch {
	case name == nil:
		p.report(at.child("name"), "name is required: the name of a query parameter")
	case name.shape != shapeText:
		p.report(at.child("name"), "name must be a string")
	default:
		if c.name = strings.TrimSpace(name.text); len(c.name) > maxName {
			p.report(at.child("name"), "name must be at most %d bytes long", maxName)
		}
	}
	if text == nil {
		p.report(at.child("value"), "value is required")
		return
	}
	p.textValue(c, text, at.child("value"))
}
