package figure

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
)

// storeFormat names the format of a store in its first line.
const storeFormat = "discreet/trials/v2"

// line is one line of a store: the first one, which names the format and the
// paper; a layout, which names the points that trials have numbers for; or a
// trial.
type line struct {
	Store string `json:"store,omitempty"`
	Paper string `json:"paper,omitempty"`

	Item string `json:"item,omitempty"`
	Key  string `json:"key,omitempty"`
	// Trial is the number of the trial, which is its seed; 0 where it has none.
	Trial int `json:"trial,omitempty"`
	// Settings is the hash of the item's settings and of its probe.
	Settings string `json:"settings,omitempty"`
	// Commit is the version of the code that made the numbers.
	Commit string `json:"commit,omitempty"`

	// Layout names the points, by a hash of them.
	Layout string    `json:"layout,omitempty"`
	Points []point   `json:"points,omitempty"`
	Y      []float64 `json:"y,omitempty"`

	number int    // in the file, from 1
	text   []byte // with its newline
}

// point is where a number stands: panel, series and x, or, so that trials share
// layouts, the number of the trial in its place.
type point struct {
	Panel   string  `json:"panel"`
	Series  string  `json:"series"`
	X       float64 `json:"x"`
	AtTrial bool    `json:"at_trial,omitempty"`
}

func (l line) encode() []byte {
	text, err := json.Marshal(l)
	if err != nil {
		panic(err) // numbers were found finite before
	}
	return append(text, '\n')
}

func headLine(paper string) []byte { return line{Store: storeFormat, Paper: paper}.encode() }

// readLines parses a store.
func readLines(path, paper string, text []byte) ([]line, error) {
	var lines []line
	n := 0
	for raw := range bytes.Lines(text) {
		n++
		l := line{number: n, text: raw}
		if err := json.Unmarshal(raw, &l); err != nil {
			return nil, fmt.Errorf("%w: %s:%d: not a trial (%w); remove the line or the file", ErrDir, path, n, err)
		}
		if (n == 1 || l.Store != "") && (l.Store != storeFormat || l.Paper != paper) {
			return nil, fmt.Errorf("%w: %s is not of this version of %s; name another directory or remove the file", ErrDir, path, paper)
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// samples are the numbers of a trial at their points.
func (l line) samples(layouts map[string][]point) ([]Sample, error) {
	points, ok := layouts[l.Layout]
	if !ok || len(points) != len(l.Y) {
		return nil, fmt.Errorf("%d numbers for the %d points of layout %q", len(l.Y), len(points), l.Layout)
	}
	out := make([]Sample, len(points))
	for i, p := range points {
		out[i] = Sample{Panel: p.Panel, Series: p.Series, X: p.X, Y: l.Y[i]}
		if p.AtTrial {
			out[i].X = float64(l.Trial)
		}
	}
	return out, nil
}

// linesOf are the lines of a finished job.
func linesOf(item string, j Job, settings, commit string, samples []Sample) (layout, trial line) {
	trial = line{Item: item, Key: j.Key, Trial: j.Trial, Settings: settings, Commit: commit}
	for _, s := range samples {
		p := point{Panel: s.Panel, Series: s.Series, X: s.X}
		if j.Trial > 0 && s.X == float64(j.Trial) {
			p.X, p.AtTrial = 0, true
		}
		layout.Points = append(layout.Points, p)
		trial.Y = append(trial.Y, s.Y)
	}
	layout.Layout = shortHash(layout.encode())
	trial.Layout = layout.Layout
	return layout, trial
}

func shortHash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

// digits of the numbers of trials that are kept: far more than a mean over trials
// has. Numbers that belong to no trial, bounds among them, are kept whole.
const digits = 7

func rounded(samples []Sample, trial int) []Sample {
	if trial == 0 {
		return samples
	}
	out := make([]Sample, len(samples))
	for i, s := range samples {
		out[i] = s
		out[i].Y = significant(s.Y, digits)
	}
	return out
}

// significant rounds to so many digits.
func significant(x float64, digits int) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	if err != nil {
		return x // above the largest number after rounding
	}
	return y
}
