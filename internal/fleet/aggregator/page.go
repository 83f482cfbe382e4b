package aggregator

import (
	"context"
	"encoding/hex"
	"fmt"
	"html/template"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/chart"
	"github.com/discreet-rl/discreet/internal/fleet/pages"
	"github.com/discreet-rl/discreet/internal/fleet/store"
	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/internal/webpage"
)

// What the page lists at most.
const (
	listedRuns      = 50
	listedRounds    = 50
	listedSuccesses = 200
)

// meanings say what each verdict means to an operator.
var meanings = map[fleetv1.Verdict]string{
	fleetv1.Verdict_VERDICT_ACCEPTED:  "counts, and is on disk",
	fleetv1.Verdict_VERDICT_DUPLICATE: "the same bytes again, which count once",
	fleetv1.Verdict_VERDICT_MALFORMED: "not of the run's size and form, or not sealed to its key",
	fleetv1.Verdict_VERDICT_FORGED:    "names a run or a round that does not exist",
	fleetv1.Verdict_VERDICT_SPENT:     "a second report of its round with other bytes",
	fleetv1.Verdict_VERDICT_STALE:     "of a round that is over",
	fleetv1.Verdict_VERDICT_LATE:      "after the time for reports",
	fleetv1.Verdict_VERDICT_CLOSED:    "the round was full",
}

// perReader is how often one reader may ask for the page.
var perReader = service.Rate{Every: 100 * time.Millisecond, Burst: 50}

// mountPages makes the routes of the page: for operators, and for anybody on loopback.
func (a *Aggregator) mountPages() {
	mount := func(s *service.Server, who service.Access, wrap func(http.Handler) http.Handler) {
		s.Handle("GET /style.css", who, wrap(http.HandlerFunc(webpage.Style)))
		s.Handle("GET /{$}", who, wrap(http.HandlerFunc(a.page)))
	}
	mount(a.server, service.Access{Roles: []string{RoleOperator}, Rate: perReader}, func(h http.Handler) http.Handler { return h })
	if a.local != nil {
		mount(a.local, service.Access{Anonymous: true, Rate: perReader}, service.Here)
	}
}

// page shows how the server is, the runs, and one of them: that of the query, or the newest.
func (a *Aggregator) page(w http.ResponseWriter, r *http.Request) {
	status, view, err := a.overview(r.Context(), r.FormValue("run"))
	if err != nil {
		a.cfg.Log.Error("a page could not be made", "error", err)
	}
	if err := webpage.Show(w, status, func(to io.Writer) error { return pages.Write(to, view) }); err != nil {
		a.cfg.Log.Error("a page could not be made", "error", err)
	}
}

func sorry(title string) pages.View { return pages.Sorry{Frame: webpage.Frame{Title: title}} }

// readable is how long the store may take to say that it can be read.
const readable = 2 * time.Second

// overview is the page of a run, the newest for no name.
func (a *Aggregator) overview(ctx context.Context, name string) (int, pages.View, error) {
	v := pages.Fleet{Frame: webpage.Frame{Title: "Fleet"}, Health: a.health(), Verdicts: a.verdictCounts()}
	quick, cancel := context.WithTimeout(ctx, readable)
	defer cancel()
	if err := a.store.Ready(quick); err != nil {
		return http.StatusServiceUnavailable, v, err
	}
	v.Health.Ready = true
	runs, totals, err := a.allRuns(ctx)
	if err != nil {
		return http.StatusServiceUnavailable, sorry("The runs cannot be read at the moment"), err
	}
	slices.Reverse(runs)
	shown := slices.IndexFunc(runs, func(r store.Run) bool { return name == "" || hex.EncodeToString(r.ID[:]) == name })
	if shown < 0 && name != "" {
		return http.StatusNotFound, sorry("There is no such run"), nil
	}
	for i, r := range runs {
		if i >= listedRuns && i != shown {
			v.Older++
			continue
		}
		l, err := a.find(ctx, r.ID[:])
		if err != nil {
			return http.StatusServiceUnavailable, sorry("The runs cannot be read at the moment"), err
		}
		one := pages.Run{ID: hex.EncodeToString(r.ID[:]), Purpose: l.spec().Purpose, State: stateOf(r), Version: r.Version, Shown: i == shown}
		for _, t := range totals[r.ID] {
			one.Rounds += t.Rounds
			one.Reports += t.Reports
		}
		v.Runs = append(v.Runs, one)
		if i != shown {
			continue
		}
		if v.Run, err = a.details(ctx, l, one, totals[r.ID]); err != nil {
			return http.StatusServiceUnavailable, sorry("The run cannot be read at the moment"), err
		}
	}
	return http.StatusOK, v, nil
}

func (a *Aggregator) allRuns(ctx context.Context) ([]store.Run, map[store.RunID][]store.Total, error) {
	runs, err := a.store.Runs(ctx)
	if err != nil {
		return nil, nil, err
	}
	totals, err := a.store.Totals(ctx)
	return runs, totals, err
}

func stateOf(r store.Run) string {
	if r.Ended {
		return "ended"
	}
	return "running"
}

// clock is a time as the page says it.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// health is how this process is, by what its metrics tell as well.
func (a *Aggregator) health() pages.Health {
	h := pages.Health{Version: a.cfg.Version, Since: clock(a.began), Clock: clock(a.cfg.Now()), Store: "PostgreSQL, which replicas share",
		Waiting: int64(len(a.commits.queue)), Applied: counted(a.rounds[string(store.StateApplied)]), Abandoned: counted(a.rounds[string(store.StateAbandoned)])}
	if a.store.Lite() {
		h.Store = "SQLite, of one process"
	}
	if h.Version == "" {
		h.Version = "unknown"
	}
	return h
}

// verdictCounts counts reports by verdict.
func (a *Aggregator) verdictCounts() []pages.Verdict {
	var out []pages.Verdict
	for v := fleetv1.Verdict(1); int(v) < len(fleetv1.Verdict_name); v++ {
		out = append(out, pages.Verdict{Name: verdictName(v), Means: meanings[v], Count: counted(a.verdicts[verdictName(v)])})
	}
	return out
}

// counted is what a counter stands at.
func counted(c prometheus.Counter) int64 {
	var m dto.Metric
	if err := c.Write(&m); err != nil {
		panic(err) // a counter that has been made can be read
	}
	return int64(m.GetCounter().GetValue())
}

// details are those of one run.
func (a *Aggregator) details(ctx context.Context, l *live, of pages.Run, totals []store.Total) (*pages.Details, error) {
	run := l.spec()
	d := &pages.Details{ID: of.ID, Purpose: of.Purpose, State: of.State, Confidence: fmt.Sprintf("%g%%", 100*Confidence),
		Reports: fmt.Sprintf("%d a device at most, each %s at epsilon %s", run.Reports, run.Randomizer.Mechanism, number(run.Randomizer.Epsilon))}
	for _, k := range []struct {
		kind fleetv1.Kind
		do   string
	}{{fleetv1.Kind_KIND_TRAIN, "train"}, {fleetv1.Kind_KIND_EVALUATE, "evaluate"}} {
		c := pages.Cohort{Kind: k.do, Each: number(run.RandomizerOf(k.kind).Epsilon)}
		for _, t := range totals {
			if t.Kind == int32(k.kind) {
				c.Rounds += t.Rounds
				c.Reports += t.Reports
			}
		}
		d.Cohorts = append(d.Cohorts, c)
	}
	most := float64(run.Reports)
	asked := min(most, float64(of.Rounds))
	epsilon := run.Randomizer.Epsilon
	d.Spent = webpage.Bar{Percent: 100 * asked / most, Words: fmt.Sprintf("a device that took part in every round so far has spent epsilon %s at most; over the whole run one spends %s at most", number(asked*epsilon), number(most*epsilon))}
	evaluations, err := a.store.Applied(ctx, l.id, int32(fleetv1.Kind_KIND_EVALUATE), listedSuccesses)
	if err != nil {
		return nil, err
	}
	d.Successes, d.Plot = l.curve(evaluations, of.Rounds)
	rounds, err := a.store.Latest(ctx, l.id, listedRounds)
	if err != nil {
		return nil, err
	}
	for _, row := range rounds {
		r := pages.Round{Number: row.ID, Version: row.Version, Kind: kindName(fleetv1.Kind(row.Kind)), State: string(row.State), Until: clock(time.UnixMilli(row.UploadUntil)),
			Reports: strconv.FormatUint(row.Accepted, 10), Epsilon: number(run.RandomizerOf(fleetv1.Kind(row.Kind)).Epsilon)}
		if row.State == store.StateOpen || row.State == store.StateClosing {
			r.Reports = "not counted yet"
			d.Opened = fmt.Sprintf("round %d", r.Number)
		}
		d.Rounds = append(d.Rounds, r)
	}
	if n := uint64(len(rounds)); n < of.Rounds {
		d.Of = fmt.Sprintf("%d of %d.", n, of.Rounds)
	}
	return d, nil
}

// curve is private success by round, the first first, as a table and drawn.
func (l *live) curve(evaluations []store.Round, rounds uint64) ([]pages.Success, template.HTML) {
	var out []pages.Success
	var line, upper, lower []chart.Dot
	for _, row := range slices.Backward(evaluations) {
		s := l.status(row)
		out = append(out, pages.Success{Round: row.ID, Version: row.Version, Reports: row.Accepted, Share: fixed(s.GetShare()), Error: fixed(s.GetStdError()), Low: fixed(s.GetLow()), High: fixed(s.GetHigh())})
		x := float64(row.ID)
		line, upper, lower = append(line, chart.Dot{X: x, Y: s.GetShare()}), append(upper, chart.Dot{X: x, Y: s.GetHigh()}), append(lower, chart.Dot{X: x, Y: s.GetLow()})
	}
	if len(line) == 0 {
		return nil, ""
	}
	first, last := 0., math.Max(float64(rounds), 1)
	if len(line) == listedSuccesses {
		first = line[0].X
	}
	p := chart.New("", chart.Axis{Name: "round", Low: first, High: last, Ticks: []float64{first, last}}, chart.Axis{Name: "success", High: 1})
	p.Band("band", upper, lower)
	p.Line("curve", line)
	p.Mark("here", chart.Disc, 3, line...)
	return out, p.SVG("Private success by round, with its intervals")
}

func kindName(k fleetv1.Kind) string { return strings.ToLower(strings.TrimPrefix(k.String(), "KIND_")) }

func number(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

// fixed is a share in three decimals.
func fixed(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }
