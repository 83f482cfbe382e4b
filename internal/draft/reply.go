package draft

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory/file"
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
	case (kind == "logged" || kind == "compare") && rest == "":
		return "logged", nil
	case kind == "constant" && rest != "":
		if _, err := strconv.Atoi(rest); err != nil {
			rest = scalar(rest)
		}
		return "constant, action: " + rest, nil
	case kind == "uniform" && atLeast(2)(rest) == nil:
		return "uniform, actions: " + rest, nil
	case kind == "learn" && atLeast(2)(rest) == nil:
		return "learned, actions: " + rest, nil
	case kind == "column" && rest != "":
		return "column, name: " + scalar(rest), nil
	case rest == "" && strings.HasSuffix(kind, ".csv"):
		return "table, path: " + scalar(kind), nil
	case rest == "" && strings.HasSuffix(kind, ".json"):
		return "softmax, path: " + scalar(kind), nil
	}
	return "", fmt.Errorf("want logged, compare, constant ACTION, uniform COUNT, learn COUNT, column NAME, or a file that ends in .csv or .json")
}

// ranges writes columns with their public ranges as features.
func ranges(s string, of []file.Column) (string, error) {
	var names, low, high []string
	for part := range strings.SplitSeq(s, ",") {
		words := strings.Fields(part)
		if len(words) < 3 {
			return "", fmt.Errorf("want columns with their ranges, such as age 20 90, marker 0 1")
		}
		name, from, to := strings.Join(words[:len(words)-2], " "), words[len(words)-2], words[len(words)-1]
		if !slices.ContainsFunc(of, func(c file.Column) bool { return c.Name == name && (c.Type == "number" || c.Type == "integer") }) {
			return "", fmt.Errorf("there is no column %.60q of numbers", name)
		}
		least, err := strconv.ParseFloat(from, 64)
		if err != nil {
			return "", fmt.Errorf("%.60q is no number", from)
		}
		if err := number(least, math.MaxFloat64)(to); err != nil {
			return "", err
		}
		names, low, high = append(names, scalar(name)), append(low, from), append(high, to)
	}
	return fmt.Sprintf("{kind: columns, names: [%s], low: [%s], high: [%s]}", strings.Join(names, ", "), strings.Join(low, ", "), strings.Join(high, ", ")), nil
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

// numbers passes two whole numbers or more.
func numbers(s string) error {
	for w := range strings.SplitSeq(s, ",") {
		if _, err := strconv.Atoi(strings.TrimSpace(w)); err != nil {
			return fmt.Errorf("want numbers with commas between them, such as 0, 1")
		}
	}
	return words(s)
}

// list writes texts with commas between them as a YAML list.
func list(s string) string {
	var out []string
	for w := range strings.SplitSeq(s, ",") {
		out = append(out, scalar(strings.TrimSpace(w)))
	}
	return "[" + strings.Join(out, ", ") + "]"
}
