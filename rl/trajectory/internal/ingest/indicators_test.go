package ingest_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// categories reads a number that may be missing with its indicator, a ward with a category for
// all others, and a sex of which each category is an observation.
func categories() trajectory.Options {
	return trajectory.Options{
		Observations: []string{"bili_missing", "bili", "ward", "sex_f", "sex_other"}, Optional: trajectory.Final, Repair: true, Unit: trajectory.UnitPerson,
		Missing: trajectory.MissingMean, Means: map[string]float64{"bili": 3, "sex_f": 0, "sex_other": 0}, Indicators: true,
		Encode: map[string]trajectory.Vocabulary{"ward": {Words: []string{"a", "b", "other"}, Other: true}, "sex": {Words: []string{"f", "other"}, OneHot: true, Other: true}},
	}
}

// TestMissingValuesAreToldOrACategory: no row is left out for one, whatever the size of batches, and
// what follows a decision may be missing without being a category.
func TestMissingValuesAreToldOrACategory(t *testing.T) {
	const log = `unit_id,episode_id,bili,ward,sex,next_bili,next_ward,next_sex,reward
		ann,e1,1,a,f,,,,0
		ann,e1,,b,m,2,a,,1
		bob,e2,5,z,,,,,0
		cai,e3,,,f,,c,,1
		dee,e4,1,a,f,1,b,f,0`
	want := [][]float64{
		{0, 1, 0, 1, 0}, {1, 3, 1, 0, 1}, // ann
		{0, 5, 2, 0, 1}, // bob
		{1, 3, 2, 1, 0}, // cai
		{0, 1, 0, 1, 0}, // dee
	}
	finals := [][]float64{{0, 2, 0, 0, 1}, nil, {1, 3, 2, 0, 1}, {0, 1, 1, 1, 0}}
	for batch := 1; batch <= 6; batch++ {
		d := mustRead(t, categories(), batch, log).data
		var got, last [][]float64
		for row := range d.Rows() {
			got = append(got, d.Observation(row))
		}
		for e := range d.Episodes() {
			last = append(last, d.FinalObservation(e))
		}
		if diff := cmp.Diff(want, got) + cmp.Diff(finals, last); diff != "" {
			t.Errorf("batches of %d: %s", batch, diff)
		}
	}
}

// TestUnreadableValuesAreNotMissing: a value that is no number is no missing one, with an indicator
// or without; a number among numbers that a vocabulary does not list is the category.
func TestUnreadableValuesAreNotMissing(t *testing.T) {
	o := categories()
	o.Means = map[string]float64{"bili": 1}
	o.Observations, o.Encode = []string{"bili", "bili_missing", "code"}, map[string]trajectory.Vocabulary{"code": {Words: []string{"1", "2", "other"}, Numeric: true, Other: true}}
	d := mustRead(t, o, 2, "unit_id,episode_id,bili,code,reward\nann,e1,NaN,1,0\nbob,e2,1,7,0\ncai,e3,1,,0\ndee,e4,1,2,0").data
	if got := fmt.Sprint(d.Obs, d.LeftOut); got != "[1 0 2 1 0 2 1 0 1] [1 0 0 0]" {
		t.Errorf("read %s", got)
	}
	o.Observations = []string{"bili_missing"}
	if _, err := read(t, o, 2, "unit_id,episode_id,bili,code,reward\nann,e1,1,1,0"); !errors.Is(err, trajectory.ErrColumn) {
		t.Errorf("an indicator without its observation: %v", err)
	}
	o.Observations = []string{"bili", "bili_missing"} // as it stands in the file
	if d := mustRead(t, o, 2, "unit_id,episode_id,bili,bili_missing,code,reward\nann,e1,1,1,1,0").data; fmt.Sprint(d.Obs) != "[1 1]" {
		t.Errorf("a column of the file by the name of an indicator: %v", d.Obs)
	}
}
