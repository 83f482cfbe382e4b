package probe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// differ says in what the persons of alone are other persons in with, who has one more
// person, "" where they are the same bit for bit and in the same order. Persons without
// names are held against those at both ends.
func differ(alone, with *trajectory.Dataset) string {
	if a, b := layout(alone), layout(with); a != b {
		return fmt.Sprintf("the data have %s, but without the irregular record %s", b, a)
	}
	n, more := alone.Persons(), with.Persons()-alone.Persons()
	if more < 0 {
		return "persons are missing"
	}
	if alone.PersonID == nil {
		same := 0
		for same < n && part(alone, same) == part(with, same) {
			same++
		}
		for p := same; p < n; p++ {
			if part(alone, p) != part(with, p+more) {
				return fmt.Sprintf("person %d of %d is read differently", p+1, n)
			}
		}
		return ""
	}
	at := 0
	for p := range n {
		for at < with.Persons() && with.PersonID[at] != alone.PersonID[p] {
			if slices.Contains(alone.PersonID, with.PersonID[at]) {
				return "persons come in another order"
			}
			at++
		}
		if at == with.Persons() {
			return fmt.Sprintf("person %d of %d is missing, or in another place", p+1, n)
		}
		if part(alone, p) != part(with, at) {
			return fmt.Sprintf("person %d of %d is read differently", p+1, n)
		}
		at++
	}
	return ""
}

// layout names the columns and parts that data have.
func layout(d *trajectory.Dataset) string {
	out := []string{fmt.Sprintf("observations %q", d.Columns)}
	for _, part := range []struct {
		name string
		has  bool
	}{
		{"actions", d.Action != nil}, {"behaviour", d.BehaviorProb != nil}, {fmt.Sprintf("%d probabilities", d.Actions), d.Actions > 0},
		{"target", d.TargetProb != nil}, {"discounts", d.Discount != nil}, {"ends", d.Terminated != nil},
	} {
		if part.has {
			out = append(out, part.name)
		}
	}
	return strings.Join(out, ", ")
}

// part is all that is read of a person; %b tells every two numbers apart.
func part(d *trajectory.Dataset, person int) string {
	var b strings.Builder
	for e := d.PersonStart[person]; e < d.PersonStart[person+1]; e++ {
		fmt.Fprintf(&b, "episode %v %b\n", d.Ended(e), d.FinalObservation(e))
		for row := d.EpisodeStart[e]; row < d.EpisodeStart[e+1]; row++ {
			fmt.Fprintf(&b, "%b %b", d.Observation(row), d.Reward[row])
			if d.Action != nil {
				fmt.Fprintf(&b, " a%d", d.Action[row])
			}
			for _, x := range [][]float64{d.BehaviorProb, d.TargetProb, d.Discount} {
				if x != nil {
					fmt.Fprintf(&b, " %b", x[row])
				}
			}
			fmt.Fprintf(&b, " %b\n", d.ActionProbs[row*d.Actions:(row+1)*d.Actions])
		}
	}
	return b.String()
}
