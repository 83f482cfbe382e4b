// Tables as clinics, trials, shops and devices have them, each with a generator of known
// truth and a configuration that reads the raw files.

package discreet_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/importing"
)

var writeLayouts = flag.Bool("layouts", false, "write the tables of examples/layouts again")

// layoutPersons is how many persons a generated table has.
const layoutPersons = 500

// layout is a form of tables: what is drawn for the persons, and the true answers by name.
type layout struct {
	name  string
	draw  func(rng *rand.Rand) map[string]string
	truth map[string]float64
}

// coin is 1 with a probability.
func coin(rng *rand.Rand, p float64) int {
	if rng.Float64() < p {
		return 1
	}
	return 0
}

// shuffled are lines of a table in any order, below the header.
func shuffled(rng *rand.Rand, header string, lines []string) string {
	rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return header + "\n" + strings.Join(lines, "\n") + "\n"
}

var layouts = []layout{
	{
		// One row a person, words for arms: response .35 under placebo and .6 under the drug.
		name: "trial", truth: map[string]float64{"drug": .6, "placebo": .35, "drug - placebo": .25},
		draw: func(rng *rand.Rand) map[string]string {
			var lines []string
			for i := range layoutPersons {
				arm := rng.IntN(2)
				lines = append(lines, fmt.Sprintf("P%04d,%s,%d,%s,%d", i, []string{"f", "m"}[rng.IntN(2)], 30+rng.IntN(40), []string{"placebo", "drug"}[arm], coin(rng, []float64{.35, .6}[arm])))
			}
			return map[string]string{"patients.csv": shuffled(rng, "patient,sex,age,arm,response", lines)}
		},
	},
	{
		// Two periods a person in random order, an effect of the person and one of the period: pain
		// on a scale of 0 to 10, 5.2 under A and 4 under B on average over periods.
		name: "crossover", truth: map[string]float64{"value": 4},
		draw: func(rng *rand.Rand) map[string]string {
			var lines []string
			for i := range layoutPersons {
				first, person := rng.IntN(2), rng.NormFloat64()
				for period := range 2 {
					treatment := (first + period) % 2
					pain := []float64{5.2, 4}[treatment] + person/2 + []float64{.3, -.3}[period] + rng.NormFloat64()/2
					lines = append(lines, fmt.Sprintf("%d;%d;%s;%.1f", 1000+i, period+1, []string{"A", "B"}[treatment], min(max(pain, 0), 10)))
				}
			}
			return map[string]string{"periods.csv": shuffled(rng, "subject;period;treatment;pain", lines)}
		},
	},
	{
		// One to three rows a user with the probability of every item in two contexts; item 2 is clicked
		// with .5 in context 0 and .1 in context 1.
		name: "bandit", truth: map[string]float64{"value": .3},
		draw: func(rng *rand.Rand) map[string]string {
			var lines []string
			for i := range layoutPersons {
				for range 1 + rng.IntN(3) {
					context := rng.IntN(2)
					probs := [][]float64{{.2, .3, .5}, {.4, .3, .3}}[context]
					item, u := 0, rng.Float64()
					for u >= probs[item] && item < 2 {
						u -= probs[item]
						item++
					}
					click := coin(rng, [][]float64{{.2, .3, .5}, {.4, .2, .1}}[context][item])
					lines = append(lines, fmt.Sprintf("%d,%d,%d,%d,%g,%g,%g", i, context, item, click, probs[0], probs[1], probs[2]))
				}
			}
			return map[string]string{"log.csv": shuffled(rng, "user_id,context,item_id,click,p0,p1,p2", lines)}
		},
	},
	{
		// Two decisions a stay by clinicians who look at severity and record no probability, rows in order
		// of time, lactate with gaps, and whether the patient lived in the file of stays: .5 and .2 more
		// for each low dose, less .1 a degree of severity.
		name: "icu", truth: map[string]float64{"value": .5 + 2*.2 - .1*.5},
		draw: func(rng *rand.Rand) map[string]string {
			var events, stays []string
			for i := range layoutPersons {
				severity, lived := rng.IntN(2), .5
				lived -= .1 * float64(severity)
				start := rng.IntN(1 << 16)
				for k := range 2 {
					dose := coin(rng, []float64{.6, .7}[severity])
					lived += .2 * float64(dose)
					minute, lactate := start+k*240, ""
					if rng.Float64() < .7 {
						lactate = fmt.Sprintf("%.1f", 1+3*rng.Float64())
					}
					events = append(events, fmt.Sprintf("%d,%d,2130-%02d-%02d %02d:%02d,%s,%s,%d", 10000+i, 30000+i, 1+minute/40320%12, 1+minute/1440%28, minute/60%24, minute%60, []string{"none", "low"}[dose], lactate, severity))
				}
				stays = append(stays, fmt.Sprintf("%d,%d,%s", 10000+i, 30000+i, []string{"died", "alive"}[coin(rng, lived)]))
			}
			slices.SortFunc(events, func(a, b string) int { // by charttime, as the table is
				return strings.Compare(strings.Split(a, ",")[2], strings.Split(b, ",")[2])
			})
			return map[string]string{
				"events.csv": "subject_id,stay_id,charttime,vasopressor,lactate,severity\n" + strings.Join(events, "\n") + "\n",
				"stays.csv":  shuffled(rng, "subject_id,stay_id,outcome", stays),
			}
		},
	},
	{
		// Sessions of a shop, in order of time: three banners at 1/3 that is recorded as .33, sales on
		// some rows and nothing on the others. A sale follows banner C with .4, others with .2.
		name: "shop", truth: map[string]float64{"value": .4 * (1 + .5)},
		draw: func(rng *rand.Rand) map[string]string {
			type event struct {
				at   int
				line string
			}
			var events []event
			for i := range layoutPersons {
				for session := range 1 + rng.IntN(2) {
					at := rng.IntN(80000)
					for k := 0; k < 2 && (k == 0 || rng.Float64() < .5); k++ {
						banner, sale := rng.IntN(3), ""
						if rng.Float64() < []float64{.2, .2, .4}[banner] {
							sale = "1"
						}
						now := at + 60*k
						events = append(events, event{now, fmt.Sprintf("2026-03-01T%02d:%02d:%02d,v%d,v%d-%d,%s,0.33,%s", now/3600, now/60%60, now%60, i, i, session, []string{"A", "B", "C"}[banner], sale)})
					}
				}
			}
			slices.SortStableFunc(events, func(a, b event) int { return a.at - b.at })
			text := "event_time,visitor,session_id,banner,propensity,sale\n"
			for _, e := range events {
				text += e.line + "\n"
			}
			return map[string]string{"events.csv": text}
		},
	},
	{
		// Visits of courses with German dates and words, the outcome on the last visit of a course and the
		// probabilities of a model on other persons: .3 and .25 more for each visit with insulin.
		name: "diabetes", truth: map[string]float64{"value": .8},
		draw: func(rng *rand.Rand) map[string]string {
			var lines []string
			for i := range layoutPersons {
				for course := range 1 + rng.IntN(2) {
					success := .3
					for visit := range 2 {
						insulin, chance := 0, []float64{.4, .6}[rng.IntN(2)]
						if rng.Float64() < chance {
							insulin = 1
						}
						success += .25 * float64(insulin)
						outcome, taken := "", chance
						if insulin == 0 {
							taken = 1 - chance
						}
						if visit == 1 {
							outcome = []string{"nein", "ja"}[coin(rng, success)]
						}
						lines = append(lines, fmt.Sprintf("%d;%d;%02d.%02d.202%d;%s;%g;%s", 100+i, course+1, 1+rng.IntN(28), 1+6*visit+rng.IntN(6), course, []string{"nein", "ja"}[insulin], taken, outcome))
					}
				}
			}
			return map[string]string{"visits.csv": shuffled(rng, "patient;course;date;insulin;p;controlled", lines)}
		},
	},
	{
		// Daily logs of devices with gaps between days; saving mode is worth .7 a day and the other .4,
		// for three days of each.
		name: "devices", truth: map[string]float64{"value": 3 * .7},
		draw: func(rng *rand.Rand) map[string]string {
			text := "device_id,day,mode,p,saved\n"
			for i := range layoutPersons {
				day := rng.IntN(10)
				for range 3 {
					day += 1 + rng.IntN(3)
					mode := coin(rng, .75)
					saved := math.Round(100*min(max([]float64{.4, .7}[mode]+.1*rng.NormFloat64(), 0), 1)) / 100
					text += fmt.Sprintf("dev-%d,%d,%s,%g,%g\n", i, day, []string{"normal", "saving"}[mode], []float64{.25, .75}[mode], saved)
				}
			}
			return map[string]string{"days.csv": text}
		},
	},
	{
		// Raw tables of MIMIC and the decisions that decisions.sql makes of them: two periods of four
		// hours a stay, norepinephrine in .6 of them and recorded without a probability. .55 die,
		// and .2 fewer for each period with it.
		name: "mimic", truth: map[string]float64{"value": .15},
		draw: func(rng *rand.Rand) map[string]string {
			type row struct {
				at   time.Time
				line string
			}
			var decisions []row
			var stays, charts, inputs, admissions []string
			stamp := func(t time.Time) string { return t.Format(time.DateTime) }
			for i := range layoutPersons {
				in := time.Date(2150, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(rng.IntN(300*86400)) * time.Second)
				subject, hadm, stay, die, lactate := 10000000+i, 20000000+i, 30000000+i, .55, ""
				stays = append(stays, fmt.Sprintf("%d,%d,%d,%s", subject, hadm, stay, stamp(in)))
				for k := range 2 {
					at := in.Add(time.Duration(4*k) * time.Hour)
					if rng.Float64() < .7 {
						lactate = fmt.Sprintf("%.1f", 1.05+3*rng.Float64())
						charts = append(charts, fmt.Sprintf("%d,%d,%s,225668,%s", subject, stay, stamp(at.Add(-time.Duration(rng.IntN(3600))*time.Second)), lactate))
					}
					given := coin(rng, .6)
					for range given * (1 + rng.IntN(2)) {
						inputs = append(inputs, fmt.Sprintf("%d,%d,%s,221906,%.2f", subject, stay, stamp(at.Add(time.Duration(rng.IntN(4*3600))*time.Second)), .05+rng.Float64()))
					}
					die -= .2 * float64(given)
					decisions = append(decisions, row{at, fmt.Sprintf("%d,%d,%s,%s,%s", subject, hadm, stamp(at), []string{"none", "norepinephrine"}[given], lactate)})
				}
				admissions = append(admissions, fmt.Sprintf("%d,%d,%d", subject, hadm, coin(rng, die)))
			}
			slices.SortStableFunc(decisions, func(a, b row) int { return a.at.Compare(b.at) })
			text := "subject_id,hadm_id,charttime,vasopressor,lactate\n"
			for _, d := range decisions {
				text += d.line + "\n"
			}
			return map[string]string{"decisions.csv": text,
				"icustays.csv":    shuffled(rng, "subject_id,hadm_id,stay_id,intime", stays),
				"chartevents.csv": shuffled(rng, "subject_id,stay_id,charttime,itemid,valuenum", charts),
				"inputevents.csv": shuffled(rng, "subject_id,stay_id,starttime,itemid,rate", inputs),
				"admissions.csv":  shuffled(rng, "subject_id,hadm_id,hospital_expire_flag", admissions),
			}
		},
	},
	{
		// Tables of the OMOP model and the decisions that decisions.sql makes of them: two visits a
		// person, metformin begun at half of them. .6 are alive, and .15 more for each; the table of
		// deaths lists the others alone.
		name: "omop", truth: map[string]float64{"value": .9},
		draw: func(rng *rand.Rand) map[string]string {
			var decisions, visits, drugs, measurements, deaths []string
			for i := range layoutPersons {
				person, alive, hba1c := 1+i, .6, ""
				day := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rng.IntN(300))
				for k := range 2 {
					on, visit := day.Format(time.DateOnly), 2*i+k+1
					visits = append(visits, fmt.Sprintf("%d,%d,%s", visit, person, on))
					if rng.Float64() < .8 {
						hba1c = fmt.Sprintf("%.1f", 6.05+3*rng.Float64())
						measurements = append(measurements, fmt.Sprintf("%d,%d,3004410,%s,%s", len(measurements)+1, person, on, hba1c))
					}
					begun := coin(rng, .5)
					alive += .15 * float64(begun)
					drugs = append(drugs, fmt.Sprintf("%d,%d,%d,%d,%s", len(drugs)+1, person, visit, []int{1124300, 1503297}[begun], on))
					decisions = append(decisions, fmt.Sprintf("%d,%s,%s,%s", person, on, []string{"none", "metformin"}[begun], hba1c))
					day = day.AddDate(0, 0, 60+rng.IntN(60))
				}
				if coin(rng, alive) == 0 {
					deaths = append(deaths, fmt.Sprintf("%d,%s", person, day.Format(time.DateOnly)))
				}
			}
			slices.SortStableFunc(decisions, func(a, b string) int { return strings.Compare(strings.Split(a, ",")[1], strings.Split(b, ",")[1]) })
			return map[string]string{
				"decisions.csv":        "person_id,visit_start_date,drug,hba1c\n" + strings.Join(decisions, "\n") + "\n",
				"visit_occurrence.csv": shuffled(rng, "visit_occurrence_id,person_id,visit_start_date", visits),
				"drug_exposure.csv":    shuffled(rng, "drug_exposure_id,person_id,visit_occurrence_id,drug_concept_id,drug_exposure_start_date", drugs),
				"measurement.csv":      shuffled(rng, "measurement_id,person_id,measurement_concept_id,measurement_date,value_as_number", measurements),
				"death.csv":            shuffled(rng, "person_id,death_date", deaths),
			}
		},
	},
	{
		// One line of JSON a user, with one to three events in a list: offer B with .3 or .5, as recorded.
		// It is followed by a purchase with .4, offer A with .2.
		name: "app", truth: map[string]float64{"value": 2 * .4},
		draw: func(rng *rand.Rand) map[string]string {
			text := ""
			for i := range layoutPersons {
				var events []string
				at := time.Date(2026, 3, 1, 0, 0, rng.IntN(86400), 0, time.FixedZone("", 3600))
				for range 1 + rng.IntN(3) {
					chance := []float64{.3, .5}[rng.IntN(2)]
					offer, purchase := coin(rng, chance), ""
					if offer == 0 {
						chance = 1 - chance
					}
					if coin(rng, []float64{.2, .4}[offer]) == 1 {
						purchase = `,"purchase":1`
					}
					events = append(events, fmt.Sprintf(`{"ts":"%s","offer":{"shown":"%s","p":%g}%s}`, at.Format(time.RFC3339), []string{"A", "B"}[offer], chance, purchase))
					at = at.Add(time.Duration(1+rng.IntN(100)) * time.Minute)
				}
				text += fmt.Sprintf(`{"user":{"id":"u%d","country":"%s"},"events":[%s]}`+"\n", i, []string{"de", "fr"}[rng.IntN(2)], strings.Join(events, ","))
			}
			return map[string]string{"users.ndjson": text}
		},
	},
}

// answer reads the files of a directory as the layout's configuration says.
func (l layout) answer(t *testing.T, dir string, src *noise.Source) map[string][2]float64 {
	t.Helper()
	c, err := discreet.Load(filepath.Join(dir, "evaluate.yaml"))
	if err != nil {
		t.Fatalf("%s: %v", l.name, err)
	}
	r, err := discreet.Evaluate(t.Context(), c, discreet.WithSource(src))
	if err != nil {
		t.Fatalf("%s: %v", l.name, err)
	}
	out := map[string][2]float64{}
	for _, a := range r.Release.Answers {
		out[a.Name] = a.Estimate.Interval
	}
	return out
}

// imported is a configuration that reads the table which discreet import makes of a layout's
// files, without any mapping.
func imported(t *testing.T, c config.Config) config.Config {
	t.Helper()
	table := filepath.Join(t.TempDir(), "table.parquet")
	if _, _, err := importing.Import(t.Context(), importing.Order{Config: c, Table: table}); err != nil {
		t.Fatal(err)
	}
	number := func(action *config.Action) *config.Action {
		if c.Data.Actions == nil || action == nil {
			return action
		}
		return &config.Action{Number: slices.Index(c.Data.Actions.Words, action.Word)}
	}
	c.Target.Action = number(c.Target.Action)
	c.Targets = slices.Clone(c.Targets)
	for i := range c.Targets {
		c.Targets[i].Action = number(c.Targets[i].Action)
	}
	behavior := *c.Data.Behavior
	behavior.Name = ""
	c.Data = config.Data{Path: config.Names{table}, OneRowEpisodes: c.Data.OneRowEpisodes, Behavior: &behavior}
	return c
}

// TestImportedLayoutsAnswerAlike: of the table that discreet import makes of the raw files the
// answers are those of the raw files.
func TestImportedLayoutsAnswerAlike(t *testing.T) {
	for _, l := range layouts {
		c, err := discreet.Load(filepath.Join("examples", "layouts", l.name, "evaluate.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := discreet.Evaluate(t.Context(), c, discreet.WithSource(noise.NewSeeded(8)))
		if err != nil {
			t.Fatalf("%s: %v", l.name, err)
		}
		table, err := discreet.Evaluate(t.Context(), imported(t, c), discreet.WithSource(noise.NewSeeded(8)))
		if err != nil {
			t.Fatalf("%s, imported: %v", l.name, err)
		}
		if diff := cmp.Diff(raw.Release.Answers, table.Release.Answers, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
			t.Errorf("%s: %s", l.name, diff)
		}
	}
}

// TestLayouts: every layout is read from its raw files, and its answers hold the truth: of
// all draws at least 88 in 100 for each answer, and pooled 94.5%. A true 95% would hold
// fewer than 88 of 100 with probability 1 in 600.
func TestLayouts(t *testing.T) {
	pooled, all := 0, 0
	for _, l := range layouts {
		from := filepath.Join("examples", "layouts", l.name)
		first := l.draw(rand.New(rand.NewPCG(1, 1)))
		for name, text := range first {
			path := filepath.Join(from, name)
			if *writeLayouts {
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != text {
				t.Errorf("%s is not what the generator writes: %v", path, err)
			}
		}
		config, err := os.ReadFile(filepath.Join(from, "evaluate.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		held, widths := map[string]int{}, map[string]float64{}
		dir, src := t.TempDir(), noise.NewSeeded(3)
		if err := os.WriteFile(filepath.Join(dir, "evaluate.yaml"), config, 0o600); err != nil {
			t.Fatal(err)
		}
		for draw := range layoutDraws {
			for name, text := range l.draw(rand.New(rand.NewPCG(1, uint64(1+draw)))) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			answers := l.answer(t, dir, src)
			for name, truth := range l.truth {
				of, ok := answers[name]
				if !ok {
					t.Fatalf("%s: no answer %q among %v", l.name, name, answers)
				}
				if widths[name] += of[1] - of[0]; of[0] <= truth && truth <= of[1] {
					held[name]++
				}
			}
		}
		for name, truth := range l.truth {
			t.Logf("%s, %s: %d of %d hold %.3g, mean width %.3g", l.name, name, held[name], layoutDraws, truth, widths[name]/float64(layoutDraws))
			if held[name] < layoutDraws*88/100 {
				t.Errorf("%s, %s: %d of %d hold %.3g", l.name, name, held[name], layoutDraws, truth)
			}
			pooled, all = pooled+held[name], all+layoutDraws
		}
	}
	t.Logf("pooled: %d of %d", pooled, all)
	if layoutDraws >= 100 && float64(pooled) < .945*float64(all) {
		t.Errorf("pooled: %d of %d", pooled, all)
	}
}
