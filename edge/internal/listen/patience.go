package listen

const (
	mostCredit = 16
	paid       = 4  // credit for a wait that has paid; one in vain takes off 1
	probeEvery = 32 // reads without credit, after which it is tried again
)

// patience decides whether it pays to let others go first before a read. That costs a fifth of what it saves when
// the next request has arrived meanwhile, which depends on the other side: a proxy or a client nearby sends it at
// once while this processor is busy with others, a browser far away never does.
type patience struct {
	credit int8 // above 0: the last waits have paid
	since  uint8
}

func (p *patience) wait() bool {
	if p.credit > 0 {
		return true
	}
	p.since++
	return p.since%probeEvery == 1
}

func (p *patience) learn(hasPaid bool) {
	if hasPaid {
		p.credit = min(p.credit+paid, mostCredit)
	} else {
		p.credit = max(p.credit-1, 0)
	}
}
