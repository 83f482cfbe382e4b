package file_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// dated is a row of two people whose times are of a type.
type dated struct {
	Person string     `parquet:"unit_id"`
	Time   *time.Time `parquet:"step,timestamp(microsecond)"`
	Reward float64    `parquet:"reward"`
}

func at(text string) *time.Time {
	t, err := time.Parse("2006-01-02 15:04:05", text)
	if err != nil {
		return nil
	}
	return &t
}

// Times order rows in whichever form a format has them; a row whose time is none makes its
// person's episode unusable, and nobody else's.
func TestTimesOrderRows(t *testing.T) {
	dir := t.TempDir()
	rows := []dated{{"a", at("2024-03-01 10:00:00"), 1}, {"b", at("2024-02-29 00:00:00"), 4}, {"a", at("2024-02-29 23:59:59"), 2}, {"c", nil, 6}, {"b", at("1969-12-31 23:59:59"), 5}, {"c", at("2024-02-29 00:00:01"), 7}}
	var csv, zoned, ndjson strings.Builder
	fmt.Fprintln(&csv, "unit_id,step,reward")
	fmt.Fprintln(&zoned, "unit_id,step,reward")
	for _, r := range rows {
		iso, zone := "", ""
		if r.Time != nil {
			iso = strings.TrimSuffix(r.Time.Format("2006-01-02T15:04:05"), "T00:00:00")
			zone = r.Time.In(time.FixedZone("", -5400)).Format("2006-01-02 15:04:05-07:00")
		}
		fmt.Fprintf(&csv, "%s,%s,%g\n", r.Person, iso, r.Reward)
		fmt.Fprintf(&zoned, "%s,%s,%g\n", r.Person, zone, r.Reward)
		fmt.Fprintf(&ndjson, "{\"unit_id\":%q,\"step\":%q,\"reward\":%g}\n", r.Person, iso, r.Reward)
	}
	typed := filepath.Join(dir, "x.parquet")
	if err := parquet.WriteFile(typed, rows); err != nil {
		t.Fatal(err)
	}
	for name, form := range map[string]string{put(t, "x.csv", csv.String()): "iso", put(t, "z.csv", zoned.String()): "iso_zone", put(t, "x.ndjson", ndjson.String()): "iso", typed: "iso"} {
		o := trajectory.Options{Unit: trajectory.UnitPerson, EpisodePerPerson: true, Repair: true, Steps: trajectory.Steps{Date: form, Sort: true}}
		d, notices, err := file.Read(t.Context(), []string{name}, "", o)
		if err != nil {
			t.Fatal(name, err)
		}
		if got := fmt.Sprint(d.PersonID, d.Reward, d.LeftOut); got != "[a b c] [2 1 5 4] [0 0 1]" {
			t.Error(name, got, notices)
		}
	}
	o := trajectory.Options{Unit: trajectory.UnitPerson, EpisodePerPerson: true, Steps: trajectory.Steps{Ordered: true}}
	if _, _, err := file.Read(t.Context(), []string{typed}, "", o); err == nil || !strings.Contains(err.Error(), "step: has a type of dates, which are no numbers; set data.steps: {kind: date, sort: true}") {
		t.Error(err)
	}
}

// Times with and without a zone have no common order.
func TestTimesOfTwoTypes(t *testing.T) {
	type local struct {
		Person string    `parquet:"unit_id"`
		Time   time.Time `parquet:"step,timestamp(microsecond:local)"`
		Reward float64   `parquet:"reward"`
	}
	dir := t.TempDir()
	names := []string{filepath.Join(dir, "1.parquet"), filepath.Join(dir, "2.parquet")}
	if err := parquet.WriteFile(names[0], []local{{"a", *at("2024-03-01 10:00:00"), 1}}); err != nil {
		t.Fatal(err)
	}
	if err := parquet.WriteFile(names[1], []dated{{"b", at("2024-03-01 10:00:00"), 1}}); err != nil {
		t.Fatal(err)
	}
	o := trajectory.Options{Unit: trajectory.UnitPerson, EpisodePerPerson: true, Steps: trajectory.Steps{Date: "iso"}}
	if _, _, err := file.Read(t.Context(), names, "", o); err == nil || !strings.Contains(err.Error(), "its steps are of another type of dates or times") {
		t.Error(err)
	}
}

// A time is read strictly, whatever others of its column are.
func TestTextsThatAreNoTimes(t *testing.T) {
	for form, texts := range map[string][]string{
		"iso":      {"2024-02-30", "2024-2-1", "20240201", "2024-02-01T10", "2024-02-01T1:00", "2024-02-01T10:00Z", "2024-02-01t10:00", "2024-02-01T24:00", "2024-02-01T10:00:60", "2024-02-01 10:00:00.", "1706695200"},
		"iso_zone": {"2024-02-01", "2024-02-01T10:00", "2024-02-01T10:00+1", "2024-02-01T10:00+24:00", "2024-02-01T10:00 UTC"},
	} {
		for _, text := range texts {
			o := trajectory.Options{Unit: trajectory.UnitPerson, EpisodePerPerson: true, Steps: trajectory.Steps{Date: form}}
			_, _, err := file.Read(t.Context(), []string{put(t, "x.csv", "unit_id,step,reward\na,"+text+",1\n")}, "", o)
			if err == nil || !strings.Contains(err.Error(), "x.csv:2: step: is not a date of the form YYYY-MM-DD") {
				t.Errorf("%s: %s: %v", form, text, err)
			}
		}
	}
}
