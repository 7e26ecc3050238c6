package app

import (
	"errors"
	"fmt"
	"strings"
)

// Roles are the parts of a control plane that one process has. A fleet may split them; every process of it has the
// same database.
type Roles struct {
	API      bool // the management API and the console
	Publish  bool // links for edges
	Ingest   bool // clicks into the store of clicks
	Webhooks bool // deliveries to other systems
}

// AllRoles is a control plane in one process.
var AllRoles = Roles{API: true, Publish: true, Ingest: true, Webhooks: true}

// ParseRoles reads names. The error names every problem.
func ParseRoles(names []string) (r Roles, err error) {
	var problems []error
	for _, name := range names {
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "api":
			r.API = true
		case "publish":
			r.Publish = true
		case "ingest":
			r.Ingest = true
		case "webhooks":
			r.Webhooks = true
		default:
			problems = append(problems, fmt.Errorf("ROLES: %q is not one of api, publish, ingest, webhooks", name))
		}
	}
	if len(problems) == 0 && r == (Roles{}) {
		problems = append(problems, errors.New("ROLES: at least one of api, publish, ingest, webhooks is required"))
	}
	return r, errors.Join(problems...)
}
