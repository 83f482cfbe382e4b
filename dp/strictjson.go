package dp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// checkSyntax walks the tokens once: it refuses repeated fields, which
// encoding/json would silently resolve, and anything after the first value.
func checkSyntax(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if err := checkValue(d, 0); err != nil {
		return fmt.Errorf("%w: %w", ErrEvent, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("%w: text after the event", ErrEvent)
	}
	return nil
}

func checkValue(d *json.Decoder, depth int) error {
	if depth > 2*maxDepth+2 {
		return fmt.Errorf("nested deeper than %d", maxDepth)
	}
	token, err := d.Token()
	if err != nil {
		return err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for d.More() {
		if delim == '{' {
			name, err := d.Token()
			if err != nil {
				return err
			}
			if key := name.(string); seen[key] {
				return fmt.Errorf("field %q is repeated", key)
			} else {
				seen[key] = true
			}
		}
		if err := checkValue(d, depth+1); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// object reads the fields of a JSON object and checks that they are exactly
// kind and names, none of them null.
func object(text []byte, kind string, names ...string) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrEvent, kind, err)
	}
	for _, name := range names {
		if string(fields[name]) == `"?"` {
			return nil, fmt.Errorf("%w: %s: \"?\" is in the place of %q; it may be in that of a noise_multiplier, of the scale of noise, or of the rate or count around an event", ErrEvent, kind, name)
		}
		if raw, ok := fields[name]; !ok || string(raw) == "null" {
			return nil, fmt.Errorf("%w: %s: field %q is missing", ErrEvent, kind, name)
		}
	}
	for name := range fields {
		if name != "kind" && !slices.Contains(names, name) {
			return nil, fmt.Errorf("%w: %s: unknown field %q", ErrEvent, kind, name)
		}
	}
	return fields, nil
}

func value(fields map[string]json.RawMessage, kind, name string, into any) error {
	if err := json.Unmarshal(fields[name], into); err != nil {
		return fmt.Errorf("%w: %s: field %q: %w", ErrEvent, kind, name, err)
	}
	return nil
}

// numbers reads a list of numbers, none of them null.
func numbers(fields map[string]json.RawMessage, kind, name string) ([]float64, error) {
	var list []*float64
	if err := value(fields, kind, name, &list); err != nil {
		return nil, err
	}
	out := make([]float64, len(list))
	for i, x := range list {
		if x == nil {
			return nil, fmt.Errorf("%w: %s: %s[%d] is null; want a number", ErrEvent, kind, name, i)
		}
		out[i] = *x
	}
	return out, nil
}

// has reports that a JSON object has a field, of whatever value.
func has(text []byte, name string) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil {
		return false
	}
	_, ok := fields[name]
	return ok
}
