package trajectory

import (
	"strings"
	"testing"
	"time"
)

// FuzzISOTime holds the reader of dates against package time: what it takes, that takes by
// one of the layouts and to the same microsecond; what a layout writes, it takes.
func FuzzISOTime(f *testing.F) {
	for _, s := range []string{"2024-02-29", "2023-02-29", "2024-01-31T23:59:59.999999999", "2024-01-31 23:59", "2024-01-31T1:00", "2024-01-31T10:00Z",
		"2024-01-31 10:00:00+01", "2024-01-31 10:00:00-0130", "2024-01-31T10:00:00.5+01:30", "2024-01-31T10:00:60", "2024-01-31T24:00", "2024-1-31", "0000-01-01",
		"2024-01-31T10:00:00,5", "2024-01-31T10:00:00.", "+2024-01-31", "2024-01-31T10:00:00+", "2024-01-31Z"} {
		f.Add(s, int64(1706695200123456))
	}
	f.Fuzz(func(t *testing.T, text string, micro int64) {
		for _, zone := range []bool{false, true} {
			got, ok := isoTime(text, zone)
			if !ok {
				continue
			}
			layouts := []string{"2006-01-02", "2006-01-02T15:04", "2006-01-02T15:04:05"}
			if zone {
				layouts = []string{"2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04Z0700", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07", "2006-01-02T15:04:05Z07"}
			}
			found := false
			for _, l := range layouts {
				if at, err := time.Parse(l, strings.Replace(text, " ", "T", 1)); err == nil {
					found = found || float64(at.UnixMicro()) == got
				}
			}
			if !found {
				t.Errorf("%q (zone %v) is taken for %v, and package time does not agree", text, zone, got)
			}
		}
		at := time.UnixMicro(micro % (1 << 53)).UTC()
		if at.Year() < 0 || at.Year() > 9999 {
			return
		}
		if got, ok := isoTime(at.Format("2006-01-02T15:04:05.999999"), false); !ok || got != float64(at.UnixMicro()) {
			t.Errorf("%v is %v, %v", at, got, ok)
		}
		if got, ok := isoTime(at.In(time.FixedZone("", 5400)).Format("2006-01-02 15:04:05.999999Z07:00"), true); !ok || got != float64(at.UnixMicro()) {
			if y := at.In(time.FixedZone("", 5400)).Year(); y >= 0 && y <= 9999 {
				t.Errorf("with a zone, %v is %v, %v", at, got, ok)
			}
		}
	})
}
