package auth

// OnCompare calls f with the hash of every comparison by either p or a, before the comparison.
func OnCompare(p *Passwords, a *Authenticator, f func(hash []byte)) {
	for _, p := range []*Passwords{p, a.passwords} {
		compare := p.compare
		p.compare = func(hash, password []byte) error { f(hash); return compare(hash, password) }
	}
}

// UsesQueued returns the number of uses of keys that Run has not written yet.
func (a *Authenticator) UsesQueued() int { return len(a.uses) }
