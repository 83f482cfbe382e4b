package report

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var colour = regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{3,6});`)

// palettes reads the light, the dark and the printed colours of the style sheet;
// what the latter two do not set, they take from the first.
func palettes(t *testing.T) map[string]map[string]string {
	light, rest, ok := strings.Cut(styleSource, "@media (prefers-color-scheme: dark)")
	if !ok {
		t.Fatal("no dark mode")
	}
	dark, print, ok := strings.Cut(rest, "@media print")
	if !ok {
		t.Fatal("no print style")
	}
	out := map[string]map[string]string{}
	for name, css := range map[string]string{"light": light, "dark": light + dark, "print": light + print} {
		out[name] = map[string]string{}
		for _, m := range colour.FindAllStringSubmatch(css, -1) {
			out[name][m[1]] = m[2]
		}
	}
	return out
}

// luminance is the relative luminance of WCAG 2.1.
func luminance(t *testing.T, hex string) float64 {
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatalf("colour #%s: %v", hex, err)
		}
		c := float64(n) / 255
		if c <= 0.03928 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

// Text needs a contrast of 4.5 (WCAG 2.1, 1.4.3), marks of charts of 3 (1.4.11);
// the orange of Okabe and Ito falls short on white, so each of its bars has its
// name and its number beside it.
func TestContrast(t *testing.T) {
	for name, p := range palettes(t) {
		for _, c := range []struct {
			fore, back string
			least      float64
		}{
			{"ink", "paper", 7}, {"soft", "paper", 4.5}, {"soft", "shade", 4.5}, {"ink", "shade", 4.5},
			{"stop", "paper", 4.5}, {"stop", "stop-paper", 4.5}, {"ink", "stop-paper", 7},
			{"care", "care-paper", 4.5}, {"ink", "care-paper", 7},
			{"sampling", "paper", 3}, {"both", "paper", 3}, {"both", "shade", 3}, {"sampling", "shade", 3},
		} {
			a, b := luminance(t, p[c.fore]), luminance(t, p[c.back])
			if got := (max(a, b) + 0.05) / (min(a, b) + 0.05); got < c.least {
				t.Errorf("%s: %s on %s has a contrast of %.2f, want %v", name, c.fore, c.back, got, c.least)
			}
		}
	}
}
