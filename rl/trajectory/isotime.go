package trajectory

import "time"

// The forms of dates that have names, in place of one with %Y.
const (
	isoForm  = "iso"
	zoneForm = "iso_zone"
)

// isoTime reads a date or a time of a date by ISO 8601, strictly, as microseconds since
// 1970: YYYY-MM-DD, which is its midnight, or with Thh:mm or Thh:mm:ss after it, a fraction
// of the seconds, and a space in place of the T. With zone it has a time, and Z, +hh, +hhmm
// or +hh:mm at its end; else it has no zone.
func isoTime(text string, zone bool) (float64, bool) {
	r := isoReader{left: text, ok: true}
	year, month, day := r.digits(4), r.after('-'), r.after('-')
	if !r.ok || month < 1 || month > 12 || day < 1 || day > lastDay(year, month) {
		return 0, false
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).UnixMicro()
	if r.left == "" {
		return float64(t), !zone
	}
	if !r.take('T') && !r.take(' ') {
		return 0, false
	}
	hour, minute, second, fraction := r.digits(2), r.after(':'), 0, 0
	if r.ok && r.take(':') {
		if second = r.digits(2); r.ok && r.take('.') {
			fraction = r.fraction()
		}
	}
	offset := 0
	if zone {
		offset = r.offset()
	}
	if !r.ok || r.left != "" || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	return float64(t + int64((hour*60+minute)*60+second-60*offset)*1_000_000 + int64(fraction)), true
}

// lastDay is that of a month.
func lastDay(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// isoReader is a text that is read from the front.
type isoReader struct {
	left string
	ok   bool
}

func (r *isoReader) take(c byte) bool {
	if r.left == "" || r.left[0] != c {
		return false
	}
	r.left = r.left[1:]
	return true
}

// digits reads a number of n digits.
func (r *isoReader) digits(n int) int {
	v := 0
	for i := range n {
		if !r.ok || i >= len(r.left) || r.left[i] < '0' || r.left[i] > '9' {
			r.ok = false
			return 0
		}
		v = 10*v + int(r.left[i]-'0')
	}
	r.left = r.left[n:]
	return v
}

// after reads two digits after a character.
func (r *isoReader) after(c byte) int {
	r.ok = r.ok && r.take(c)
	return r.digits(2)
}

// fraction reads the digits of a fraction, of which microseconds count.
func (r *isoReader) fraction() int {
	v, n := 0, 0
	for ; n < len(r.left) && r.left[n] >= '0' && r.left[n] <= '9'; n++ {
		if n < 6 {
			v = 10*v + int(r.left[n]-'0')
		}
	}
	for i := n; i < 6; i++ {
		v *= 10
	}
	r.ok, r.left = r.ok && n > 0, r.left[n:]
	return v
}

// offset reads a zone: how many minutes its clocks are ahead of UTC.
func (r *isoReader) offset() int {
	sign := 1
	switch {
	case r.take('Z'):
		return 0
	case r.take('-'):
		sign = -1
	case !r.take('+'):
		r.ok = false
	}
	hours, minutes := r.digits(2), 0
	if r.left != "" {
		r.take(':')
		minutes = r.digits(2)
	}
	r.ok = r.ok && hours < 24 && minutes < 60
	return sign * (60*hours + minutes)
}
