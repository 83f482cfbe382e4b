package ono20

import (
	"context"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
)

func show(t *testing.T, name string, n int, c train.Config) {
	var f, r []float64
	ok := 0
	t0 := time.Now()
	for k := range n {
		o, err := play(context.Background(), c, uint64(k+1))
		if err != nil {
			t.Fatal(err)
		}
		x := float64(o.fst)
		if o.fst == 0 {
			x = 1e9
		} else {
			ok++
		}
		f, r = append(f, x), append(r, o.retention)
	}
	sort.Float64s(f)
	sort.Float64s(r)
	fmt.Printf("%-50s ok %d/%d fst %.0f %.0f %.0f ret %.0f %.0f %v\n", name, ok, n, f[n/4], (f[n/2]+f[(n-1)/2])/2, f[3*n/4], r[0], r[n/2], time.Since(t0).Round(time.Millisecond))
}

func TestProbe(t *testing.T) {
	n := 5
	for _, e := range []float64{1, 2, 5, 10} {
		if strings.Contains(os.Getenv("P"), "L") {
			show(t, fmt.Sprint("lap nearest ", e), n, pgc(train.Laplace, e, 1, nearest))
		}
		if strings.Contains(os.Getenv("P"), "P") {
			show(t, fmt.Sprint("prs nearest ", e), n, pgc(train.PRS, e, 100, nearest))
			c := pgc(train.PRS, e, 100, nearest)
			c.Terms.Printed = false
			show(t, fmt.Sprint("prs nearest unbiased ", e), n, c)
			c = pgc(train.PRS, e, 100, nearest)
			c.Local.ActorCritic.DetachReturn = true
			show(t, fmt.Sprint("prs nearest detachreturn ", e), n, c)
			c.Workers, c.Schedule = 9, train.Fastest
			show(t, fmt.Sprint("prs nearest detachreturn 9 ", e), n, c)
		}
		if strings.Contains(os.Getenv("P"), "X") {
			show(t, fmt.Sprint("lap literal ", e), n, pgc(train.Laplace, e, 1, literal))
			show(t, fmt.Sprint("prs literal ", e), n, pgc(train.PRS, e, 100, literal))
		}
	}
	if strings.Contains(os.Getenv("P"), "N") {
		c := pgc(train.NotPrivate, 0, 1, nearest)
		c.Terms.Randomizer.Clip = 1
		show(t, "non-private glorot clip 1", n, c)
		c.Local.ActorCritic.DetachReturn = true
		show(t, "non-private glorot clip 1 detachreturn", n, c)
		show(t, "lap control", n, pgc(train.Laplace, 1, 1, control))
		show(t, "prs control", n, pgc(train.PRS, 1, 100, control))
		_ = learn.Init{}
	}
}
