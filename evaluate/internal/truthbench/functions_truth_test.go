package truthbench

import (
	"math"
	"testing"
)

// TestStartValuesAgreeWithPlay plays the logged policy: the discounted rewards of an
// episode, with the value of the state where it was cut off, are worth J on average.
// A mean more than 4.5 standard errors off has probability below 1e-5; seeds are fixed.
func TestStartValuesAgreeWithPlay(t *testing.T) {
	const persons = 8000
	for i, f := range Functions() {
		d := f.Draw(persons, uint64(i))
		var played moments
		cut := 0
		for e := range d.Episodes() {
			sum, discount := 0.0, 1.0
			for row := d.EpisodeStart[e]; row < d.EpisodeStart[e+1]; row++ {
				sum += discount * d.Reward[row]
				discount *= f.Gamma
			}
			if d.HasFinal[e] {
				cut++
				sum += discount * f.V[int(d.Final[e])]
			}
			played.add(sum)
		}
		mean, se := played.mean()
		if math.Abs(mean-f.J) > 4.5*se {
			t.Errorf("%s: worth %v; %d plays make %v, standard error %v", f.Name, f.J, persons, mean, se)
		}
		t.Logf("%-26s %8.4f %8.4f (%.4f), %.2f%% cut off", f.Name, f.J, mean, se, 100*float64(cut)/persons)
		if cut > persons/50 {
			t.Errorf("%s: %d of %d episodes are cut off; these problems have episodes that end", f.Name, cut, persons)
		}
	}
}
