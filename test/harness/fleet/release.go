package fleet

import (
	"fmt"
	"testing"
)

// Present returns the paths of the programs built from the working tree.
func Present(t testing.TB) map[Program]string {
	t.Helper()
	return map[Program]string{Control: binary(t, string(Control)), Edge: binary(t, string(Edge))}
}

// Become stops the program gracefully and starts another one with the same folder and ports.
func (n *Node) Become(path string) error {
	if err := n.Stop(); err != nil {
		return fmt.Errorf("stop %s: %w\n%s", n.Name, err, tail(n.logPath, 2<<10))
	}
	n.Use(path)
	n.Start()
	return nil
}

// Use selects the program for the next start.
func (p *Process) Use(path string) { p.path = path }

// Usable reports whether the process is ready at this moment.
func (p *Process) Usable() bool { return p.Alive() && p.ready() == nil }
