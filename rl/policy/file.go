package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/discreet-rl/discreet/internal/jcs"
	"github.com/discreet-rl/discreet/rl/feature"
)

// Schemas of policy files. A file of targetSchema may leave it out.
const (
	targetSchema  = "discreet/policy/v1"
	networkSchema = "discreet/network-policy/v1"
)

// maxFile bounds a policy file.
const maxFile = 64 << 20

// head is what every policy file in JSON may begin with.
type head struct {
	Schema string `json:"schema"`
	Kind   string `json:"kind"`
}

// check refuses a file of another kind than it is read as.
func (h head) check(kind string) error {
	switch {
	case h.Schema != "" && h.Schema != targetSchema:
		return fmt.Errorf("schema is %q; want %q", h.Schema, targetSchema)
	case h.Kind != "" && h.Kind != kind:
		return fmt.Errorf("kind is %q and the file is read as %s; name the policy's own kind", h.Kind, kind)
	}
	return nil
}

// readFile reads one JSON object into file: every member known and there once,
// and nothing after it.
func readFile(r io.Reader, name string, file any) error {
	if err := readStrict(r, file); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrPolicy, name, err)
	}
	return nil
}

func readStrict(r io.Reader, file any) error {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return err
	}
	if len(text) > maxFile {
		return fmt.Errorf("larger than %d MiB; a policy of this size is better given by its probabilities, as columns of the data (target kind columns)", maxFile>>20)
	}
	var h head
	if json.Unmarshal(text, &h) == nil && h.Schema == networkSchema {
		return errors.New("a network with hidden layers; only policies that are linear in their features can be read: train one without hidden layers (network.hidden: []), or give its probabilities as columns of the data (target kind columns)")
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(file); err != nil {
		return inWords(err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return errors.New("text after the policy; want one JSON object")
	}
	// A member given twice leaves open which one is meant.
	if _, err = jcs.Canonical(text); err != nil {
		return err
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	return unambiguous(all)
}

// inWords says what is wrong with JSON in other words than those of a program.
func inWords(err error) error {
	const form = "; docs/policies.md has the form of a policy"
	var mistyped *json.UnmarshalTypeError
	var broken *json.SyntaxError
	unknown, isUnknown := strings.CutPrefix(err.Error(), "json: unknown field ")
	switch {
	case errors.As(err, &mistyped) && mistyped.Field == "":
		return fmt.Errorf("is a JSON %s and not an object%s", mistyped.Value, form)
	case errors.As(err, &mistyped):
		field := mistyped.Field[strings.LastIndexByte(mistyped.Field, '.')+1:]
		return fmt.Errorf("the member %q is or holds a %s where something else is wanted%s", field, mistyped.Value, form)
	case errors.As(err, &broken):
		return fmt.Errorf("is not JSON from byte %d on%s", broken.Offset, form)
	case errors.Is(err, io.EOF):
		return errors.New("is empty" + form)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("ends in the middle: it may be cut short" + form)
	case isUnknown:
		return fmt.Errorf("unknown member %s%s", unknown, form)
	}
	return err
}

// unambiguous refuses what the decoder would take for another thing: members in
// another case, which stand for the same field, and null, which stands for none.
func unambiguous(value any) error {
	switch v := value.(type) {
	case nil:
		return errors.New("a value is null; give it, or leave its member out")
	case []any:
		for _, x := range v {
			if err := unambiguous(x); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, x := range v {
			if name == "scale" {
				continue // its members are columns
			}
			if name != strings.ToLower(name) {
				return fmt.Errorf("unknown member %q; names are in lower case", name)
			}
			if err := unambiguous(x); err != nil {
				return err
			}
		}
	}
	return nil
}

// linearFile is what the files of linear preferences share. Inputs are observation
// columns as they are; Features is a feature map instead of them.
type linearFile struct {
	head
	Inputs    []string      `json:"inputs"`
	Features  *feature.Spec `json:"features"`
	Clip      bool          `json:"clip"`
	Weights   [][]float64   `json:"weights"`
	Intercept []float64     `json:"intercept"`
}

// preferences builds what the file describes, and refuses a file that could mean
// two policies.
func (f linearFile) preferences(kind string) (linear, error) {
	if err := f.check(kind); err != nil {
		return linear{}, err
	}
	m, err := f.featureMap()
	if err != nil {
		return linear{}, err
	}
	switch {
	case len(f.Weights) == 1:
		return linear{}, errors.New("one row of weights is a policy of one action; a binary logistic regression has two rows: zeros for the first action, its coefficients for the second")
	case len(f.Weights) > 0 && len(f.Inputs) > 0 && len(f.Weights[0]) == len(f.Inputs)+1:
		return linear{}, fmt.Errorf("%d weights an action for %d inputs; the intercept is a field of its own: \"intercept\": one number an action", len(f.Weights[0]), len(f.Inputs))
	}
	l, err := newLinear(kind, m, f.Weights)
	if err != nil || f.Intercept == nil {
		return l, err
	}
	return l.withIntercept(kind, f.Intercept)
}

func (f linearFile) featureMap() (feature.Map, error) {
	if (f.Features == nil) == (f.Inputs == nil) {
		return nil, errors.New("want either inputs (observation columns as they are) or features (a feature map)")
	}
	if f.Features == nil {
		if f.Clip {
			return nil, errors.New("inputs are never clipped; leave clip out, or give features with a range")
		}
		return feature.NewRaw(f.Inputs)
	}
	m, err := f.Features.Map()
	if err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	if f.Features.Intercept && f.Intercept != nil {
		return nil, errors.New("features has an intercept, and so has the policy; leave one of them out")
	}
	if _, finite := m.(feature.Finite); !finite && !f.Clip {
		return nil, fmt.Errorf("features of kind %s move an observation outside its range to the nearer end; say \"clip\": true if the policy was made so, or give the columns as inputs, which are never clipped", f.Features.Kind)
	}
	return m, nil
}
