package draft

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// What replies may be, and how they are written as YAML.

// values writes words with what they are worth as YAML.
func values(s string) (string, error) {
	var out []string
	for pair := range strings.SplitSeq(s, ",") {
		word, number, ok := strings.Cut(pair, ":")
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if !ok || err != nil || math.IsInf(v, 0) || v != v || strings.TrimSpace(word) == "" {
			return "", fmt.Errorf("want words with numbers, such as alive: 1, died: 0")
		}
		out = append(out, strconv.QuoteToASCII(strings.TrimSpace(word))+": "+strconv.FormatFloat(v, 'g', -1, 64))
	}
	return "{" + strings.Join(out, ", ") + "}", nil
}

// targetOf writes a policy as the rest of {kind: ...}.
func targetOf(text string) (string, error) {
	kind, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	switch {
	case kind == "logged" && rest == "":
		return "logged", nil
	case kind == "constant" && rest != "":
		if _, err := strconv.Atoi(rest); err != nil {
			rest = scalar(rest)
		}
		return "constant, action: " + rest, nil
	case kind == "uniform" && atLeast(2)(rest) == nil:
		return "uniform, actions: " + rest, nil
	case kind == "column" && rest != "":
		return "column, name: " + scalar(rest), nil
	case rest == "" && strings.HasSuffix(kind, ".csv"):
		return "table, path: " + scalar(kind), nil
	case rest == "" && strings.HasSuffix(kind, ".json"):
		return "softmax, path: " + scalar(kind), nil
	}
	return "", fmt.Errorf("want logged, constant ACTION, uniform COUNT, column NAME, or a file that ends in .csv or .json")
}

func oneOf(words ...string) func(string) error {
	return func(s string) error {
		if !slices.Contains(words, s) {
			return fmt.Errorf("want %s", strings.Join(words, ", "))
		}
		return nil
	}
}

func atLeast(n int) func(string) error {
	return func(s string) error {
		if k, err := strconv.Atoi(s); err != nil || k < n {
			return fmt.Errorf("want a whole number, %d or more", n)
		}
		return nil
	}
}

// number wants a number above from and at most to.
func number(from, to float64) func(string) error {
	return func(s string) error {
		if v, err := strconv.ParseFloat(s, 64); err != nil || math.IsInf(v, 0) || !(v > from && v <= to) {
			switch {
			case math.IsInf(from, -1):
				return fmt.Errorf("want a number")
			case math.IsInf(to, 1):
				return fmt.Errorf("want a number above %g", from)
			}
			return fmt.Errorf("want a number above %g and at most %g", from, to)
		}
		return nil
	}
}

// words wants two texts or more with commas between them.
func words(s string) error {
	all := strings.Split(s, ",")
	if len(all) < 2 || slices.ContainsFunc(all, func(w string) bool { return strings.TrimSpace(w) == "" }) {
		return fmt.Errorf("want two words or more, with commas between them")
	}
	return nil
}

// list writes texts with commas between them as a YAML list.
func list(s string) string {
	var out []string
	for w := range strings.SplitSeq(s, ",") {
		out = append(out, scalar(strings.TrimSpace(w)))
	}
	return "[" + strings.Join(out, ", ") + "]"
}
