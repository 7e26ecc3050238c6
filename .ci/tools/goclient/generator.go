package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// generator collects what the files contain.
type generator struct {
	doc    *apiDocument
	names  map[string]map[string]string // the lines of names.txt, by their kinds
	rank   map[string]int               // the order of the groups
	groups []*group
	sent   map[string]bool   // schemas that are part of what the client sends
	got    map[string]bool   // schemas that are part of answers
	done   map[string]bool   // Go types that were written, or are to be
	enums  map[string]*enum  // by Go name
	sets   map[string]string // Go names of sets of values
	params map[string]string // Go names of sets of parameters
	told   map[string]string // the type at which a field or parameter is described
}

// group is a service of the client, with the types that it is the first to use.
type group struct {
	name    string
	methods []*method
	types   []string // declarations
}

type enum struct {
	name   string
	values []string
	group  *group
}

// method is one operation.
type method struct {
	op           *operation
	name         string // of the Go method
	http, path   string
	params       string   // type of the query parameters, or ""
	args         []string // parameters of the path
	result, rows string   // types
	body, kind   string   // type of the body, and json, csv, zip, form or ""
	key, raw     bool     // whether it takes an Idempotency-Key, and whether the result is not JSON
	cursor       bool     // whether its list has cursors
}

func newGenerator(doc *apiDocument) *generator {
	return &generator{
		doc: doc, names: map[string]map[string]string{}, rank: map[string]int{}, sent: map[string]bool{}, got: map[string]bool{},
		done: map[string]bool{}, enums: map[string]*enum{},
		sets: map[string]string{}, params: map[string]string{}, told: map[string]string{},
	}
}

// readOperations finds the methods first, then the types, because a type depends on whether it is sent.
func (g *generator) readOperations() error {
	byName := map[string]*group{}
	for _, path := range sorted(g.doc.Paths) {
		for _, verb := range sorted(g.doc.Paths[path]) {
			op := g.doc.Paths[path][verb]
			groupName, name := g.place(op)
			at := byName[groupName]
			if at == nil {
				at = &group{name: groupName}
				byName[groupName], g.groups = at, append(g.groups, at)
			}
			m := &method{op: op, name: name, http: strings.ToUpper(verb), path: path}
			if err := g.bodies(m); err != nil {
				return fmt.Errorf("%s: %w", op.OperationID, err)
			}
			at.methods = append(at.methods, m)
		}
	}
	slices.SortStableFunc(g.groups, func(a, b *group) int { return g.rank[a.name] - g.rank[b.name] })
	g.nameSets()
	for _, at := range g.groups {
		for _, m := range at.methods {
			if err := g.describe(at, m); err != nil {
				return fmt.Errorf("%s: %w", m.op.OperationID, err)
			}
		}
		at.methods = slices.DeleteFunc(at.methods, func(m *method) bool { return m.name == "-" })
	}
	g.groups = append(g.groups, g.partsOfHand())
	return nil
}

// partsOfHand declares the parts of types that are written by hand.
func (g *generator) partsOfHand() *group {
	at := &group{name: "parts"}
	schemas := g.doc.Components.Schemas
	for _, s := range schemas["Answer"].children() {
		what, _ := s.plain()
		g.goType(at, what, "Answer", "code", false)
	}
	g.goType(at, &schema{Ref: "/LinkClick"}, "", "", false)
	for _, s := range schemas["WebhookEvent"].OneOf {
		g.goType(at, schemas[s.name()].Properties["data"], "", "", false)
	}
	return at
}

// place returns the group and the name of an operation.
func (g *generator) place(op *operation) (group, name string) {
	if line := g.names["op"][op.OperationID]; line != "" {
		group, name, _ = strings.Cut(line, ".")
		return group, name
	}
	tag := strings.ReplaceAll(op.Tags[0], " ", "_")
	if group = g.names["group"][tag]; group == "" {
		group = exported(op.Tags[0])
	}
	return group, strings.ReplaceAll(exported(op.OperationID), "URL", "Link")
}

// bodies marks the schemas that are sent and received.
func (g *generator) bodies(m *method) error {
	content := m.op.RequestBody.Content
	switch {
	case content["application/json"].Schema != nil:
		m.kind = "json"
		s := content["application/json"].Schema
		if choice := g.names["body"][m.op.OperationID]; choice != "" {
			s = &schema{Ref: "/" + choice}
		}
		if s.Ref == "" {
			return fmt.Errorf("the body has no name; choose a schema with a line body in names.txt")
		}
		m.body = s.name()
		g.mark(s, g.sent)
	case content["text/csv"].Schema != nil:
		m.kind = "csv"
	case content["application/zip"].Schema != nil:
		m.kind = "zip"
	case content["multipart/form-data"].Schema != nil:
		m.kind = "form"
	case len(content) > 0:
		return fmt.Errorf("bodies of the types %v are not known", sorted(content))
	}
	for _, status := range sorted(m.op.Responses) {
		for _, kind := range m.op.Responses[status].Content {
			if kind.Schema != nil {
				g.mark(kind.Schema, g.got)
			}
		}
	}
	return nil
}

// mark adds all schemas that are part of one.
func (g *generator) mark(s *schema, to map[string]bool) {
	if name := s.name(); name != "" {
		if to[name] {
			return
		}
		to[name] = true
		s = g.doc.Components.Schemas[name]
	}
	for _, child := range s.children() {
		g.mark(child, to)
	}
}

func (s *schema) children() (out []*schema) {
	for _, name := range sorted(s.Properties) {
		out = append(out, s.Properties[name])
	}
	if s.Items != nil {
		out = append(out, s.Items)
	}
	if more := s.more(); more != nil {
		out = append(out, more)
	}
	return append(append(out, s.AnyOf...), s.OneOf...)
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// describe completes a method and writes the types that it needs.
func (g *generator) describe(at *group, m *method) error {
	for _, match := range pathParameter.FindAllStringSubmatch(m.path, -1) {
		m.args = append(m.args, unexported(match[1]))
	}
	query := g.query(m.op)
	if len(query) > 0 {
		m.params = g.paramsType(at, m.op, query)
	}
	for _, p := range m.op.Parameters {
		m.key = m.key || p.Name == "Idempotency-Key"
		m.cursor = m.cursor || p.Name == "after"
	}
	if m.kind == "json" {
		m.body = g.goType(at, &schema{Ref: "/" + m.body}, "", "", true)
	}
	var json *schema
	text := false
	for _, status := range sorted(m.op.Responses) {
		if status[0] != '2' && status[0] != '3' {
			continue
		}
		content := m.op.Responses[status].Content
		for _, kind := range sorted(content) {
			if kind == "application/json" {
				json = content[kind].Schema
			} else {
				text = true
			}
		}
		m.raw = m.raw || status[0] == '3' && status != "304"
	}
	switch {
	case text || m.raw && json == nil:
		m.raw = true
	case json != nil:
		m.raw = false
		what, _ := json.plain()
		if rows := g.doc.Components.Schemas[what.name()].rows(); rows != nil {
			m.rows = g.goType(at, rows, "", "", false)
			m.result = "Page[" + m.rows + "]"
		} else if m.result = g.goType(at, what, "", "", false); m.result == "" {
			return fmt.Errorf("the answer has no type")
		}
	}
	return nil
}

// query returns the parameters of the query without those that only repeat others.
func (g *generator) query(op *operation) (out []parameter) {
	for _, p := range op.Parameters {
		if p.In == "query" && p.Name != "fields" && p.Name != "pageSize" {
			out = append(out, p)
		}
	}
	return out
}

func setOf(parameters []parameter) string {
	var out []string
	for _, p := range parameters {
		out = append(out, p.Name+strings.Join(p.Schema.Type, "")+fmt.Sprint(p.Schema.Enum))
	}
	return strings.Join(out, " ")
}

// nameSets gives the names of names.txt to sets of parameters and values, wherever they are used first.
func (g *generator) nameSets() {
	for _, name := range sorted(g.doc.Components.Schemas) {
		for field, property := range g.doc.Components.Schemas[name].Properties {
			g.nameSet(property, name+"."+field)
		}
	}
	for _, path := range sorted(g.doc.Paths) {
		for _, verb := range sorted(g.doc.Paths[path]) {
			op := g.doc.Paths[path][verb]
			if name := g.names["params"][op.OperationID]; name != "" {
				g.params[setOf(g.query(op))] = name
			}
			for _, p := range op.Parameters {
				g.nameSet(p.Schema, op.OperationID+"."+p.Name)
			}
		}
	}
}

func (g *generator) nameSet(s *schema, where string) {
	s, _ = s.plain()
	if s.Items != nil {
		s, _ = s.Items.plain()
	}
	if name := g.names["enum"][where]; name != "" && g.sets[fmt.Sprint(s.Enum)] == "" {
		g.sets[fmt.Sprint(s.Enum)] = name
	}
}
