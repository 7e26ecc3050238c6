package alerts

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/shortline/shortline/control/internal/clicks/analytics"
	"github.com/shortline/shortline/control/internal/clicks/anomaly"
	"github.com/shortline/shortline/control/internal/store"
)

const (
	// watchedLinks is the number of links of a workspace that a rule without a link watches: those with the most clicks.
	watchedLinks = 100
	// settleTime is how long after its end an hour is judged: clicks may still be on their way.
	settleTime = 10 * time.Minute
	hourMillis = int64(time.Hour / time.Millisecond)
)

// judgement is what the clicks of an hour were like.
type judgement struct {
	hour    int64
	watches []store.AlertWatch
}

// unusual lists the links whose clicks are unusual. It judges the newest hour that is complete, if it was not judged before; judged is nil
// otherwise, and the causes are those of the last judgement.
func (s *Service) unusual(ctx context.Context, r *store.AlertRule) (list []cause, judged *judgement, err error) {
	if !holds(r, Clicks) {
		return nil, nil, nil
	}
	watches, err := s.store.AlertWatches(ctx, r.Num)
	if err != nil {
		return nil, nil, err
	}
	if hour := s.cfg.Now().Add(-settleTime).UnixMilli()/hourMillis - 1; hour > r.JudgedHour {
		if judged, err = s.judge(ctx, r, hour, watches); err != nil {
			return nil, nil, fmt.Errorf("judge clicks: %w", err)
		}
		watches = judged.watches
	}
	nums := make([]uint64, 0, len(watches))
	for _, w := range watches {
		nums = append(nums, w.Link)
	}
	links, err := s.store.LinksByNum(ctx, nums)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range watches {
		u, ok := links[w.Link]
		if w.Alarm == int8(anomaly.Normal) || !ok || u.Workspace != r.Workspace {
			continue
		}
		side, word := "above", "more"
		if w.Alarm == int8(anomaly.Below) {
			side, word = "below", "fewer"
		}
		list = append(list, cause{Clicks, fmt.Sprintf("clicks:%s:%s", u.ID, side),
			fmt.Sprintf("The link %s has far %s clicks than usual: %.0f within %d hours instead of about %.0f.", u.Name(), word,
				w.Clicks, w.Hours,
				math.Round(w.Expected)), []string{u.ID}})
	}
	return list, judged, nil
}

// judge judges an hour of the links that a rule watches.
func (s *Service) judge(ctx context.Context, r *store.AlertRule, hour int64, before []store.AlertWatch) (*judgement, error) {
	links, err := s.watched(ctx, r)
	if err != nil {
		return nil, err
	}
	out := &judgement{hour: hour}
	if len(links) == 0 {
		return out, nil
	}
	series, err := s.series(ctx, r.Workspace, links, hour)
	if err != nil {
		return nil, err
	}
	limits, known := limitsOf(&r.Unusual), map[uint64]store.AlertWatch{}
	for _, w := range before {
		known[w.Link] = w
	}
	for i := range links {
		num := links[i].Num
		w := known[num]
		j := anomaly.Judge(series[num], limits)
		next, change := anomaly.Watch{Alarm: anomaly.Direction(w.Alarm), Seen: w.Seen, Side: anomaly.Direction(w.Side),
			Calm: w.Calm}.Next(j)
		w.Link, w.Alarm, w.Seen, w.Side, w.Calm = num, int8(next.Alarm), next.Seen, int8(next.Side), next.Calm
		if change == anomaly.Fired {
			w.Clicks, w.Expected, w.Hours = j.Clicks, j.Expected, j.Hours
		}
		if next != (anomaly.Watch{}) {
			out.watches = append(out.watches, w)
		}
	}
	return out, nil
}

// chances are the probabilities below which clicks are unusual, by sensitivity.
var chances = map[string]float64{Low: anomaly.LowChance, Medium: anomaly.NormalChance, High: anomaly.HighChance}

func limitsOf(u *store.Unusual) anomaly.Limits {
	l := anomaly.Limits{Chance: chances[u.Sensitivity], Rise: float64(u.MinRise) / 100, Fall: float64(u.MinFall) / 100,
		Clicks: float64(u.MinClicks)}
	switch u.Direction {
	case Above:
		l.Fall = 0
	case Below:
		l.Rise = 0
	}
	return l
}

func (s *Service) watched(ctx context.Context, r *store.AlertRule) ([]store.Link, error) {
	if r.LinkID == "" {
		return s.store.MostClicked(ctx, r, watchedLinks)
	}
	found, err := s.store.LinksByID(ctx, []string{r.LinkID})
	if u, ok := found[r.LinkID]; ok && u.Workspace == r.Workspace {
		return []store.Link{u}, err
	}
	return nil, err
}

// series reads the clicks of links in each hour up to hour. Hours from before a link was made are missing, and so are hours in which no
// link of the whole installation was clicked: then clicks were probably lost, or nothing ran.
func (s *Service) series(ctx context.Context, workspace uint64, links []store.Link, hour int64) (map[uint64][]float64, error) {
	first := hour - anomaly.History + 1
	nums := make([]uint64, len(links))
	for i := range links {
		nums[i] = links[i].Num
	}
	period := analytics.Scope{From: first * hourMillis, To: (hour + 1) * hourMillis}
	all, err := s.clicks.Lines(ctx, analytics.Query{Scope: period, Every: analytics.Hours})
	if err != nil {
		return nil, err
	}
	alive := make([]bool, anomaly.History)
	for _, l := range all {
		if at := l.At/hourMillis - first; at >= 0 && at < anomaly.History {
			alive[at] = l.Clicks > 0
		}
	}
	period.Links, period.Home = nums, workspace
	lines, err := s.clicks.Lines(ctx, analytics.Query{Scope: period, Every: analytics.Hours, ByLink: true})
	if err != nil {
		return nil, err
	}
	series := make(map[uint64][]float64, len(links))
	for i := range links {
		hours := make([]float64, anomaly.History)
		for at := range hours {
			if (first+int64(at))*hourMillis < links[i].CreatedAt || !alive[at] {
				hours[at] = anomaly.Missing
			}
		}
		series[links[i].Num] = hours
	}
	for _, l := range lines {
		if at := l.At/hourMillis - first; series[l.Link] != nil && at >= 0 && at < anomaly.History {
			series[l.Link][at] = float64(l.Clicks)
		}
	}
	return series, nil
}
