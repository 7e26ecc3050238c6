package listen

import "runtime"

// yields is false if connections must not yield. More processors for Go than the machine has would always be idle.
var yields = runtime.GOMAXPROCS(0) <= min(runtime.NumCPU(), 4)

const (
	maxCredit           = 16
	creditOfUsefulYield = 4  // credit for a yield that helped; a useless one costs 1
	probeEvery          = 32 // reads without credit between two attempts
)

// yieldPolicy decides whether a connection should yield the processor before a read. A yield helps if the next request
// arrives meanwhile: a proxy or a client nearby sends it at once, while a browser far away never does. A useless yield
// costs a fifth of what a useful one saves.
//
// A connection never yields twice in a row. The scheduler asks the kernel for new data only when it has no goroutine to run.
// Connections that always yield keep its queue full, and connections that wait for data are then noticed after up to ten
// milliseconds. At full load, this was three quarters of the 99th percentile.
//
// On machines with many processors, no connection yields: an idle processor would take over the goroutine, and yields of all
// processors would contend for one lock of the scheduler.
type yieldPolicy struct {
	credit  int8 // above 0: recent yields helped
	since   uint8
	yielded bool // before the last read
}

func (p *yieldPolicy) wait() bool {
	if !yields {
		return false
	}
	if p.yielded {
		p.yielded = false
		return false
	}
	p.yielded = p.hopes()
	return p.yielded
}

// hopes reports whether a yield is likely to help, or whether it is time for an attempt.
func (p *yieldPolicy) hopes() bool {
	if p.credit > 0 {
		return true
	}
	p.since++
	return p.since%probeEvery == 1
}

func (p *yieldPolicy) learn(hasPaid bool) {
	if hasPaid {
		p.credit = min(p.credit+creditOfUsefulYield, maxCredit)
	} else {
		p.credit = max(p.credit-1, 0)
	}
}
