package kit

import (
	"cmp"
	"context"
	"runtime"

	"github.com/labstack/echo/v4"

	"github.com/shortline/shortline/control/internal/platform/work"
)

// Workload is a kind of expensive work that users can order. Each kind has a queue of its own, see package work.
type Workload uint8

const (
	Light     Workload = iota // no queue
	Computing                 // explanations, replays, QR codes, dry runs: at most about two seconds of a processor each
	Reporting                 // queries of the click store
	Exporting                 // streams
	workloads
)

// workloadOf returns the workload of an endpoint that declares none.
func workloadOf(e *Endpoint) Workload {
	switch {
	case e.Timeout < 0: // a stream without an end
		return Light
	case e.Limit == LimitAnalytics:
		return Reporting
	case e.Limit == LimitExport:
		return Exporting
	}
	return Light
}

// newQueues returns the queues by workload. A request waits at most half of its time for a slot.
func newQueues(cfg *Config) (queues [workloads]*work.Queue) {
	processors := runtime.GOMAXPROCS(0)
	queue := func(slots, perUser int, busy string) *work.Queue {
		return work.New(work.Config{Slots: slots, PerUser: perUser, Wait: cfg.Timeout / 2, Busy: busy})
	}
	reports, exports := 4, 2 // of one user
	if cfg.LocalReports {
		reports, exports = max(1, processors/2), 1
	}
	queues[Computing] = cmp.Or(cfg.Computing, work.NewComputing(cfg.Timeout/2))
	queues[Reporting] = queue(max(8, 2*processors), reports, "Too many reports are being computed.")
	queues[Exporting] = queue(16, exports, "Too many exports are under way.")
	return queues
}

// Queue returns the queue of a workload.
func (k *Kit) Queue(w Workload) *work.Queue { return k.queues[w] }

// enterQueue waits for a slot for the work of an endpoint. The slot is free again when the response begins, so that a caller
// who reads slowly does not block others; that of an export, which is computed while it is read, when the response ends.
func (k *Kit) enterQueue(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		e := k.endpointOf(c)
		if e == nil || e.Work == Light {
			return next(c)
		}
		if k.cfg.ReportAsked != nil && (e.Work == Reporting || e.Work == Exporting) {
			k.cfg.ReportAsked()
		}
		ctx := c.Request().Context()
		slot, err := k.queues[e.Work].Enter(ctx, workerOf(ctx, c.RealIP()))
		if err != nil {
			return err
		}
		defer slot.Leave()
		if e.Work != Exporting {
			c.Response().Before(slot.Leave)
		}
		return next(c)
	}
}

// workerOf returns the name under which a caller takes slots.
func workerOf(ctx context.Context, ip string) string {
	if p := Principal(ctx); p.UserID != "" {
		return p.UserID
	}
	return addressKey(ip)
}
