// Command monitor is a Prometheus for tests: it takes scrapes from its standard input, stores them,
// evaluates the rules of a file by Prometheus' own code, and answers which alerts are firing.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/url"
	"os"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/tsdb"
)

// scrape is one of a target; one that failed has no text.
type scrape struct {
	At       int64 // milliseconds
	Job      string
	Instance string
	Up       bool
	Text     string
}

// firing is an alert.
type firing struct {
	Alert  string
	Labels map[string]string
}

func main() {
	if err := run(os.Args[1], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(file string, in io.Reader, out io.Writer) error {
	dir, err := os.MkdirTemp("", "monitor")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	quiet := slog.New(slog.DiscardHandler)
	db, err := tsdb.Open(dir, quiet, nil, tsdb.DefaultOptions(), nil)
	if err != nil {
		return err
	}
	defer db.Close()
	all, query, err := load(file, db, quiet)
	if err != nil {
		return err
	}
	m := monitor{db: db, rules: all, query: query, seen: map[string]map[string]labels.Labels{}}
	lines := bufio.NewReaderSize(in, 1<<20)
	answers := json.NewEncoder(out)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var s []scrape
		if err := json.Unmarshal(line, &s); err != nil {
			return err
		}
		now, err := m.evaluate(s)
		if err != nil {
			return err
		}
		if err := answers.Encode(now); err != nil {
			return err
		}
	}
}

// load reads the rules, as strictly as Prometheus does.
func load(file string, db *tsdb.DB, log *slog.Logger) ([]*rules.AlertingRule, rules.QueryFunc, error) {
	p := parser.NewParser(parser.Options{})
	groups, problems := rulefmt.ParseFile(file, false, model.UTF8Validation, p, log)
	if len(problems) > 0 {
		return nil, nil, errors.Join(problems...)
	}
	engine := promql.NewEngine(promql.EngineOpts{Logger: log, MaxSamples: 1e6, Timeout: time.Minute})
	var all []*rules.AlertingRule
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			e, err := p.ParseExpr(r.Expr)
			if err != nil {
				return nil, nil, err
			}
			all = append(all, rules.NewAlertingRule(r.Alert, e, time.Duration(r.For), time.Duration(r.KeepFiringFor), labels.FromMap(r.Labels), labels.FromMap(r.Annotations), labels.EmptyLabels(), "", true, log))
		}
	}
	return all, rules.EngineQueryFunc(engine, db), nil
}

type monitor struct {
	db    *tsdb.DB
	rules []*rules.AlertingRule
	query rules.QueryFunc
	seen  map[string]map[string]labels.Labels // series of the last scrape, by target
}

// evaluate stores scrapes of the same time, and returns what fires then.
func (m *monitor) evaluate(all []scrape) ([]firing, error) {
	ctx := context.Background()
	app := m.db.Appender(ctx)
	for _, s := range all {
		series := map[string]labels.Labels{}
		add := func(l labels.Labels, v float64) error {
			series[l.String()] = l
			_, err := app.Append(0, l, s.At, v)
			return err
		}
		target := func(name string, b *labels.Builder) labels.Labels {
			if name != "" {
				b.Set(labels.MetricName, name)
			}
			return b.Set("job", s.Job).Set("instance", s.Instance).Labels()
		}
		if s.Up {
			p, err := textparse.New([]byte(s.Text), "text/plain", labels.NewSymbolTable(), textparse.ParserOptions{})
			if err != nil {
				return nil, err
			}
			for {
				is, err := p.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					return nil, err
				}
				if is != textparse.EntrySeries {
					continue
				}
				_, _, v := p.Series()
				var l labels.Labels
				p.Labels(&l)
				if err := add(target("", labels.NewBuilder(l)), v); err != nil {
					return nil, err
				}
			}
		}
		// What is not told any more is stale.
		for name, l := range m.seen[s.Job+s.Instance] {
			if _, ok := series[name]; !ok {
				if _, err := app.Append(0, l, s.At, math.Float64frombits(value.StaleNaN)); err != nil {
					return nil, err
				}
			}
		}
		m.seen[s.Job+s.Instance] = series
		up := 0.0
		if s.Up {
			up = 1
		}
		if _, err := app.Append(0, target("up", labels.NewBuilder(labels.EmptyLabels())), s.At, up); err != nil {
			return nil, err
		}
	}
	if err := app.Commit(); err != nil {
		return nil, err
	}
	now := []firing{}
	for _, r := range m.rules {
		if _, err := r.Eval(ctx, 0, time.UnixMilli(all[0].At), m.query, &url.URL{}, 0); err != nil {
			return nil, err
		}
		for _, a := range r.ActiveAlerts() {
			if a.State == rules.StateFiring {
				now = append(now, firing{r.Name(), a.Labels.Map()})
			}
		}
	}
	return now, nil
}
