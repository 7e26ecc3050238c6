package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// more returns the schema of the members of a map, or nil.
func (s *schema) more() *schema {
	if len(s.AdditionalProperties) == 0 || s.AdditionalProperties[0] != '{' {
		return nil
	}
	out := &schema{}
	if json.Unmarshal(s.AdditionalProperties, out) != nil {
		return nil
	}
	return out
}

// goType returns the Go type of a schema that cannot be null, and writes its declaration.
func (g *generator) goType(at *group, s *schema, owner, field string, sent bool) string {
	if name := s.name(); name != "" {
		g.declare(at, name)
		return g.typeName(name)
	}
	switch {
	case len(s.Enum) > 1 && s.is("string"):
		return g.enumType(at, s, owner, field)
	case s.is("string") && s.Format == "date-time":
		return "time.Time"
	case s.is("string"):
		return "string"
	case s.is("integer"):
		return "int"
	case s.is("number"):
		return "float64"
	case s.is("boolean"):
		return "bool"
	case s.is("array"):
		what, null := s.Items.plain()
		element := g.goType(at, what, owner, field, sent)
		if null {
			element = "*" + element
		}
		return "[]" + element
	case s.is("object") && s.more() != nil:
		return "map[string]" + g.goType(at, s.more(), owner, field, sent)
	case s.is("object") && len(s.Properties) > 0:
		name := g.typeName(owner) + exported(field)
		if !g.done[name] {
			g.done[name] = true
			at.types = append(at.types, g.structType(at, name, owner+exported(field), s, sent))
		}
		return name
	case g.names["field"][owner+"."+field] != "":
		return g.names["field"][owner+"."+field]
	case sent:
		return "any"
	}
	return "json.RawMessage"
}

// declare writes the declaration of a schema once.
func (g *generator) declare(at *group, schema string) {
	name := g.typeName(schema)
	if g.done[name] || g.names["hand"][schema] != "" {
		return
	}
	g.done[name] = true
	s := g.doc.Components.Schemas[schema]
	place := len(at.types)
	at.types = append(at.types, "")
	at.types[place] = g.structType(at, name, schema, s, g.sent[schema] && !g.got[schema])
}

// structType returns the declaration of an object.
func (g *generator) structType(at *group, name, schema string, s *schema, sent bool) string {
	out := &strings.Builder{}
	text, first := brief(s.Description), ""
	if text != "" {
		text = name + ": " + text
	}
	for _, field := range s.fields() {
		property := s.Properties[field]
		if property.Deprecated {
			continue // it repeats another one
		}
		what, null := property.plain()
		required := slices.Contains(s.Required, field)
		typ, option := g.goType(at, what, schema, field, sent), ""
		isList := strings.HasPrefix(typ, "[]") || strings.HasPrefix(typ, "map[")
		isRaw := typ == "json.RawMessage" || typ == "any"
		switch {
		case sent && !required:
			typ, option = "Optional["+typ+"]", ",omitzero"
		case sent && null:
			typ = "*" + typ
		case !sent && !required:
			option = ",omitzero"
			fallthrough
		case null:
			if !isList && !isRaw {
				typ = "*" + typ
			}
		}
		if earlier := g.tell(out, name, field, property.Description, sent); earlier != "" {
			first = earlier
		}
		fmt.Fprintf(out, "\t%s %s `json:\"%s%s\"`\n", exported(field), typ, field, option)
	}
	if first != "" {
		text = strings.TrimPrefix(text+"\n\n"+name+" has fields that are described at ["+first+"].", "\n\n")
	}
	return fmt.Sprintf("%stype %s struct {\n%s}\n", comment(text), name, out)
}

// tell describes a field, if no type of those that are sent does it already. Then it returns that type.
func (g *generator) tell(out *strings.Builder, name, field, text string, sent bool) (earlier string) {
	if earlier = g.told[field+text]; sent && earlier != "" {
		return earlier
	}
	if text != "" {
		g.told[field+text] = name
		wrap(out, "\t", brief(text))
	}
	return ""
}

// enumType returns the type of a closed set of values.
func (g *generator) enumType(at *group, s *schema, owner, field string) string {
	set := fmt.Sprint(s.Enum)
	name := g.names["enum"][owner+"."+field]
	if name == "" {
		name = g.sets[set]
	}
	if name == "" {
		name = g.typeName(owner) + exported(field)
		g.sets[set] = name
	}
	e := g.enums[name]
	if e == nil {
		e = &enum{name: name, group: at}
		g.enums[name] = e
	}
	for _, v := range s.Enum {
		if text, ok := v.(string); ok && !slices.Contains(e.values, text) {
			e.values = append(e.values, text)
		}
	}
	return name
}

// paramsType returns the type of the parameters of a query, and writes its declaration once.
func (g *generator) paramsType(at *group, op *operation, query []parameter) string {
	set := setOf(query)
	name := g.params[set]
	if name == "" {
		name = g.typeName(exported(op.OperationID)) + "Params"
		g.params[set] = name
	}
	if g.done[name] {
		return name
	}
	g.done[name] = true
	out, first := &strings.Builder{}, ""
	for _, p := range query {
		s, _ := p.Schema.plain()
		typ, option := g.goType(at, s, op.OperationID, p.Name, true), ""
		if typ == "bool" || typ == "int" && (s.Minimum == nil || *s.Minimum <= 0) {
			typ = "Optional[" + typ + "]"
		}
		if p.Explode && s.is("array") {
			option = ",explode"
		}
		if earlier := g.tell(out, name, p.Name, p.Description, true); earlier != "" {
			first = earlier
		}
		fmt.Fprintf(out, "\t%s %s `query:\"%s%s\"`\n", exported(p.Name), typ, p.Name, option)
	}
	text := name + " are parameters of a request."
	if first != "" {
		text += " Some are described at [" + first + "]."
	}
	at.types = append(at.types, fmt.Sprintf("%stype %s struct {\n%s}\n", comment(text), name, out))
	return name
}

// declaration returns the type and the constants of a set of values.
func (e *enum) declaration() string {
	out := comment(e.name + " is one of these; later servers may know more.")
	out += fmt.Sprintf("type %s string\n\nconst (\n", e.name)
	for _, v := range e.values {
		out += fmt.Sprintf("\t%s%s %s = %q\n", e.name, exported(v), e.name, v)
	}
	return out + ")\n"
}
