package trajectory

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Steps says how the column step orders the decisions of an episode. Whatever it
// holds, a [Dataset] numbers them 0, 1, 2, ...
type Steps struct {
	// From is the number of the first decision, from which they count up by one.
	From int
	// Ordered takes any numbers, such as days: those of an episode must rise from
	// row to row, and two that are equal are refused.
	Ordered bool
	// Date takes dates and times in place of numbers, ordered likewise, to the microsecond.
	// Of a format that has them as a type it takes that type; of a text, this form: iso (of
	// ISO 8601: YYYY-MM-DD, or YYYY-MM-DDThh:mm:ss, without a zone), iso_zone (the latter
	// with its zone), or one such as %Y-%m-%d, with %Y (four digits), %m, %d, %H, %M, %S (two digits each; a fraction
	// may follow the seconds) and %z (+hh:mm or Z).
	Date string
	// Sort puts the rows in order first, which then may come in any: a person's episodes by
	// their first steps, those with equal ones by their ids (a shorter one first, then byte
	// by byte), those that cannot be placed by a step before all others, and rows by their steps, of which no two of an episode may be equal.
	Sort bool
}

// Rising reports whether the values are ordered without being numbered.
func (s Steps) Rising() bool { return s.Ordered || s.Date != "" }

func (s Steps) validate() error {
	if s.From != 0 && s.Rising() {
		return fmt.Errorf("%w: steps that are ordered, and numbered from %d; choose one of the two", ErrOptions, s.From)
	}
	if s.Date == "" || s.Date == isoForm || s.Date == zoneForm {
		return nil
	}
	_, err := s.parser()
	return err
}

// Time parses dates of the form Date: to microseconds since 1970 and true, or
// false where the text is no such date. It panics if the form is not valid.
func (s Steps) Time() func(text string) (float64, bool) {
	if s.Date == isoForm || s.Date == zoneForm {
		return func(text string) (float64, bool) { return isoTime(text, s.Date == zoneForm) }
	}
	layout, err := s.parser()
	if err != nil {
		panic(err)
	}
	exact := s.pattern()
	return func(text string) (float64, bool) {
		t, err := time.Parse(layout, text)
		return float64(t.UnixMicro()), err == nil && exact.MatchString(text)
	}
}

// Form describes the form of dates.
func (s Steps) Form() string {
	switch s.Date {
	case isoForm:
		return "YYYY-MM-DD or YYYY-MM-DDThh:mm:ss, without a zone"
	case zoneForm:
		return "YYYY-MM-DDThh:mm:ss+hh:mm"
	}
	return s.Date
}

// pattern is what dates of the form look like: package time takes an hour of one digit, and a
// comma before a fraction.
func (s Steps) pattern() *regexp.Regexp {
	parts := map[byte]string{'Y': `\d{4}`, 'S': `\d{2}(\.\d+)?`, 'z': `(Z|[+-]\d{2}:\d{2})`}
	var b strings.Builder
	for i := 0; i < len(s.Date); i++ {
		if s.Date[i] != '%' {
			b.WriteString(regexp.QuoteMeta(s.Date[i : i+1]))
			continue
		}
		i++
		b.WriteString(cmp.Or(parts[s.Date[i]], `\d{2}`))
	}
	return regexp.MustCompile("^" + b.String() + "$")
}

// parser turns the form of a date into a layout of package time.
func (s Steps) parser() (string, error) {
	fail := func(what string) (string, error) {
		return "", fmt.Errorf("%w: the form of dates %q %s; write it with %%Y, %%m, %%d, %%H, %%M, %%S and %%z, such as %%Y-%%m-%%d, or write iso or iso_zone", ErrOptions, s.Date, what)
	}
	parts := map[byte]string{'Y': "2006", 'm': "01", 'd': "02", 'H': "15", 'M': "04", 'S': "05", 'z': "Z07:00"}
	var layout strings.Builder
	seen := map[byte]bool{}
	for i := 0; i < len(s.Date); i++ {
		c := s.Date[i]
		switch {
		case c == '%' && i+1 < len(s.Date) && parts[s.Date[i+1]] != "":
			i++
			if c = s.Date[i]; seen[c] {
				return fail("has a part twice")
			}
			seen[c] = true
			layout.WriteString(parts[c])
		case strings.HasSuffix(layout.String(), parts['S']) && (c == '.' || c == ','):
			return fail("has a point or a comma after the seconds, where their fraction may stand")
		case strings.IndexByte(" -/.:,T", c) >= 0:
			layout.WriteByte(c)
		default:
			return fail("has a part that is not known")
		}
	}
	if !seen['Y'] || !seen['m'] || !seen['d'] {
		return fail("lacks the year, the month or the day")
	}
	return layout.String(), nil
}
