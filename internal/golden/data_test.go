package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeData writes the inputs of the net into a new directory: three logs and
// two policies. They follow from integers alone.
func writeData(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"visits.csv": visits(60, 3),
		"single.csv": visits(60, 1),
		"bandit.csv": bandit(200),
		"softmax.json": `{"features": {"kind": "columns", "names": ["obs_x"], "low": [0], "high": [1], "intercept": true},
 "weights": [[0, 0], [0.5, -1]], "temperature": 1, "clip": true}`,
		"table.csv": "0.25,0.75\n0.5,0.5\n0.125,0.875\n0.75,0.25\n0,1\n",
		"wide.csv":  "0.25,0.25,0.25,0.25\n0.5,0.25,0.25,0\n0.25,0.25,0.25,0.25\n0.125,0.375,0.25,0.25\n0.25,0.25,0.25,0.25\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// dice are integers that look random: a linear congruential generator (Knuth).
type dice uint64

func (d *dice) roll(n int) int {
	*d = *d*6364136223846793005 + 1442695040888963407
	return int(uint64(*d) >> 33 % uint64(n))
}

// visits is a log of persons with 1 to most episodes each, of 1 to 5 decisions
// in 5 states. Every number is a multiple of 1/16.
func visits(persons, most int) string {
	var b strings.Builder
	b.WriteString("unit_id,episode_id,step,obs_state,obs_x,obs_y,action,behavior_prob,target_prob,reward,terminated,truncated,discount\n")
	d := dice(1)
	episode := 0
	for person := range persons {
		for range 1 + d.roll(most) {
			episode++
			steps := 1 + d.roll(5)
			cut := d.roll(4) == 0
			state := d.roll(5)
			for step := range steps {
				last := step == steps-1
				fmt.Fprintf(&b, "p%d,e%d,%d,%d,%v,%v,%d,%v,%v,%v,%v,%v,%v\n", person, episode, step, state,
					float64(d.roll(17))/16, float64(d.roll(33)-16)/16, d.roll(2), float64(1+d.roll(3))/4, float64(d.roll(5))/4,
					float64(d.roll(9))/8, last && !cut, last && cut, 1-float64(d.roll(4))/16)
				state = (state + d.roll(3)) % 5
			}
		}
	}
	return b.String()
}

// bandit is a log of decisions among four actions.
func bandit(rows int) string {
	var b strings.Builder
	b.WriteString("unit_id,obs_state,action,behavior_prob,target_prob,reward\n")
	d := dice(2)
	for row := range rows {
		fmt.Fprintf(&b, "u%d,%d,%d,%v,%v,%d\n", row, d.roll(3), d.roll(4), float64(1+d.roll(4))/8, float64(d.roll(5))/4, d.roll(2))
	}
	return b.String()
}
