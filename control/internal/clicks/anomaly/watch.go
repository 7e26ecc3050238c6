package anomaly

// Watch turns the judgements of following hours into one alarm for each unusual time. The zero value has seen nothing.
type Watch struct {
	Alarm Direction // of the alarm that has fired and is not resolved; Normal: there is none
	Seen  int       // hours in a row on the side Side while there is no alarm
	Side  Direction
	Calm  int // hours in a row that were not unusual while there is an alarm
}

const (
	// confirm is the number of hours in a row after which an alarm fires. A chance event seldom lasts; a change does.
	confirm = 2
	// calm is the number of hours in a row after which an alarm is resolved.
	calm = 6
)

// Change is what a judgement did to a watch.
type Change uint8

// Changes.
const (
	Same Change = iota
	Fired
	Resolved
)

// Next adds the judgement of the next hour.
func (w Watch) Next(j Judgement) (Watch, Change) {
	if w.Alarm != Normal {
		if j.Direction == w.Alarm {
			w.Calm = 0
			return w, Same
		}
		if w.Calm++; w.Calm >= calm {
			return Watch{}, Resolved
		}
		return w, Same
	}
	switch {
	case j.Direction == Normal:
		return Watch{}, Same
	case j.Direction == w.Side:
		w.Seen++
	default:
		w = Watch{Side: j.Direction, Seen: 1}
	}
	if w.Seen >= confirm {
		return Watch{Alarm: w.Side}, Fired
	}
	return w, Same
}
