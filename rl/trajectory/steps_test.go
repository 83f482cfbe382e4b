package trajectory_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// A date that is written by a form is read by it, to the microsecond; later is more.
func TestDatesAreReadByTheirForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.Permutation([]string{"%Y", "%m", "%d", "%H", "%M", "%S"}).Draw(t, "order")
		form := strings.Join(parts, rapid.SampledFrom([]string{"-", ".", "/", ":", " ", ", ", "T"}).Draw(t, "between"))
		if o := (trajectory.Options{Steps: trajectory.Steps{Date: form}}); o.Validate() != nil {
			t.Skip("what follows the seconds could be their fraction")
		}
		parse := trajectory.Steps{Date: form}.Time()
		moment := func(name string) time.Time {
			seconds := rapid.Int64Range(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()).Draw(t, name)
			return time.Unix(seconds, 0).UTC()
		}
		write := func(at time.Time) string {
			text := form
			for part, v := range map[string]string{"%Y": fmt.Sprintf("%04d", at.Year()), "%m": fmt.Sprintf("%02d", at.Month()), "%d": fmt.Sprintf("%02d", at.Day()),
				"%H": fmt.Sprintf("%02d", at.Hour()), "%M": fmt.Sprintf("%02d", at.Minute()), "%S": fmt.Sprintf("%02d", at.Second())} {
				text = strings.ReplaceAll(text, part, v)
			}
			return text
		}
		a, b := moment("a"), moment("b")
		x, ok := parse(write(a))
		y, okB := parse(write(b))
		if !ok || !okB || x != float64(a.UnixMicro()) || (x < y) != a.Before(b) {
			t.Fatalf("%s: %s is %v %t, %s is %v %t", form, write(a), x, ok, write(b), y, okB)
		}
	})
}

// What is no date of the form is told from one.
func TestWhatIsNoDate(t *testing.T) {
	for form, texts := range map[string][]string{
		"%Y-%m-%d":             {"2024-1-5", "2024-02-30", "24-01-05", "2024-01-05 ", "", "2024-13-01", "0x10-01-01"},
		"%d.%m.%Y":             {"31.04.2024", "2024.01.05", "5.1.2024"},
		"%Y-%m-%dT%H:%M:%S%z":  {"2024-01-05T10:00:00", "2024-01-05T25:00:00Z", "2024-01-05 10:00:00Z"},
		"%Y-%m-%d %H:%M:%S %z": {"2024-01-05 10:00:00Z"},
	} {
		for _, text := range texts {
			if v, ok := (trajectory.Steps{Date: form}).Time()(text); ok {
				t.Errorf("%q by %q is %v", text, form, v)
			}
		}
	}
	zone := trajectory.Steps{Date: "%Y-%m-%dT%H:%M:%S%z"}.Time()
	a, okA := zone("2024-01-05T10:00:00.25+02:00")
	b, okB := zone("2024-01-05T08:00:00.25Z")
	if !okA || !okB || a != b || a != 1704441600.25e6 {
		t.Errorf("%v %t and %v %t, want 1704441600.25e6", a, okA, b, okB)
	}
}

// Any form is refused, or reads texts without a fault of its own.
func FuzzDates(f *testing.F) {
	f.Add("%Y-%m-%d", "2024-01-05")
	f.Add("%d.%m.%Y %H:%M:%S%z", "05.01.2024 10:00:00Z")
	f.Add("%Y%m%d,.0", "20240105,.0")
	f.Fuzz(func(t *testing.T, form, text string) {
		s := trajectory.Steps{Date: form}
		o := trajectory.Options{Steps: s}
		if o.Validate() != nil || form == "" {
			return
		}
		if v, ok := s.Time()(text); ok && v != v {
			t.Fatalf("%q by %q is no number", text, form)
		}
	})
}

// A form is kept to the letter: package time would take an hour of one digit, and a comma
// before a fraction.
func TestDatesAreOfTheFormToTheLetter(t *testing.T) {
	parse := trajectory.Steps{Date: "%d.%m.%Y %H:%M:%S"}.Time()
	for text, ok := range map[string]bool{"31.01.2024 09:05:07": true, "31.01.2024 09:05:07.25": true, "31.01.2024 9:05:07": false, "31.01.2024 09:05:07,25": false,
		"31.01.2024 09:05:07.": false, "1.01.2024 09:05:07": false, "31.01.2024 09:05:07 ": false, "31.02.2024 09:05:07": false} {
		if _, got := parse(text); got != ok {
			t.Errorf("%q: %t, want %t", text, got, ok)
		}
	}
}
