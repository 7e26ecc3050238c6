package mailreports

import "context"

// SendDue sends what is due, as the job does.
func (s *Service) SendDue(ctx context.Context) error { return s.sendDue(ctx) }

// Newest returns the first and the last day of the newest period, and when the next report is due.
var Newest = newest

// Days returns the days of a period.
func (p period) Days() string {
	return p.first.Format("2006-01-02") + " " + p.last.Format("2006-01-02")
}
