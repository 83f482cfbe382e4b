package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// rule is a schema, or a part of one. It has the keywords of draft 2020-12 that the schemas of this package use,
// with their meaning; any other is an error when a schema is read.
type rule struct {
	Ref         string           `json:"$ref"`
	Definitions map[string]*rule `json:"$defs"`

	Type  string `json:"type"`
	Const any    `json:"const"` // text or a truth value
	Enum  []any  `json:"enum"`

	Properties           map[string]*rule    `json:"properties"`
	Required             []string            `json:"required"`
	AdditionalProperties *bool               `json:"additionalProperties"`
	DependentRequired    map[string][]string `json:"dependentRequired"`

	Items    *rule `json:"items"`
	Contains *rule `json:"contains"`
	MinItems *int  `json:"minItems"`
	MaxItems *int  `json:"maxItems"`

	MinLength int     `json:"minLength"`
	Pattern   pattern `json:"pattern"`

	Minimum          json.Number `json:"minimum"`
	Maximum          json.Number `json:"maximum"`
	ExclusiveMinimum json.Number `json:"exclusiveMinimum"`
	ExclusiveMaximum json.Number `json:"exclusiveMaximum"`

	AllOf []*rule `json:"allOf"`
	OneOf []*rule `json:"oneOf"`
	If    *rule   `json:"if"`
	Then  *rule   `json:"then"`
	Else  *rule   `json:"else"`

	// What says nothing about a document.
	Draft       string `json:"$schema"`
	ID          string `json:"$id"`
	Title       string `json:"title"`
	Description string `json:"description"`

	never bool
}

// UnmarshalJSON implements [json.Unmarshaler]. The schema true holds for everything, false for nothing.
func (r *rule) UnmarshalJSON(text []byte) error {
	if r.never = string(text) == "false"; r.never || string(text) == "true" {
		return nil
	}
	type keywords rule
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode((*keywords)(r))
}

type pattern struct{ *regexp.Regexp }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (p *pattern) UnmarshalText(text []byte) (err error) {
	p.Regexp, err = regexp.Compile(string(text))
	return err
}

// breach is the first way in which a value breaks a rule, of several the one that lies furthest inside: of
// several forms that a value could have had, of the one that it nearly has.
type breach struct {
	at    []string // the innermost name first
	words string
}

func breached(format string, with ...any) *breach {
	return &breach{words: fmt.Sprintf(format, with...)}
}

// worst is the later breach if it lies further inside.
func worst(b, later *breach) *breach {
	if b == nil || later != nil && len(later.at) > len(b.at) {
		return later
	}
	return b
}

func (b *breach) below(name string) *breach {
	if b != nil {
		b.at = append(b.at, name)
	}
	return b
}

// check holds a value against a rule of a schema, which has the definitions.
func (schema *rule) check(r *rule, v any) *breach {
	if b := r.form(v); b != nil {
		return b
	}
	var b *breach
	if r.Ref != "" {
		b = schema.check(schema.Definitions[strings.TrimPrefix(r.Ref, definitions)], v)
	}
	switch v := v.(type) {
	case map[string]any:
		b = worst(b, schema.object(r, v))
	case []any:
		b = worst(b, schema.array(r, v))
	case string:
		b = worst(b, r.text(v))
	case json.Number:
		b = worst(b, r.number(v))
	}
	for _, each := range r.AllOf {
		b = worst(b, schema.check(each, v))
	}
	if r.OneOf != nil {
		b = worst(b, schema.one(r.OneOf, v))
	}
	switch {
	case r.If == nil:
	case schema.check(r.If, v) == nil:
		if r.Then != nil {
			b = worst(b, schema.check(r.Then, v))
		}
	case r.Else != nil:
		b = worst(b, schema.check(r.Else, v))
	}
	return b
}

// form is what a value of every type is asked.
func (r *rule) form(v any) *breach {
	if r.never {
		return breached("false schema")
	}
	kind := kindOf(v)
	if n, ok := v.(json.Number); r.Type != "" && r.Type != kind && !(ok && r.Type == "integer" && rational(n).IsInt()) {
		return breached("got %s, want %s", kind, r.Type)
	}
	if r.Const != nil && v != r.Const {
		return breached("value must be %s", display(r.Const))
	}
	if r.Enum != nil && !(kind == "string" && slices.Contains(r.Enum, v)) {
		var names []string
		for _, e := range r.Enum {
			names = append(names, display(e))
		}
		return breached("value must be one of %s", strings.Join(names, ", "))
	}
	return nil
}

func (schema *rule) object(r *rule, v map[string]any) *breach {
	b := lacking(v, r.Required, "")
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if p, ok := r.Properties[name]; ok {
			b = worst(b, schema.check(p, v[name]).below(name))
		} else if r.AdditionalProperties != nil && !*r.AdditionalProperties {
			unknown = append(unknown, quoted(name))
		}
	}
	if unknown != nil {
		b = worst(b, breached("additional properties %s not allowed", strings.Join(unknown, ", ")))
	}
	for _, name := range slices.Sorted(maps.Keys(r.DependentRequired)) {
		if _, ok := v[name]; ok {
			b = worst(b, lacking(v, r.DependentRequired[name], name))
		}
	}
	return b
}

// lacking names what is not there of the properties that are required, by the presence of another if it has a name.
func lacking(v map[string]any, required []string, by string) *breach {
	var names []string
	for _, name := range required {
		if _, ok := v[name]; !ok {
			names = append(names, quoted(name))
		}
	}
	all := strings.Join(names, ", ")
	switch {
	case names == nil:
		return nil
	case by != "":
		return breached("properties %s required, if %s exists", all, quoted(by))
	case len(names) == 1:
		return breached("missing property %s", all)
	}
	return breached("missing properties %s", all)
}

func (schema *rule) array(r *rule, v []any) *breach {
	var b *breach
	if r.MinItems != nil && len(v) < *r.MinItems {
		b = breached("minItems: got %d, want %d", len(v), *r.MinItems)
	}
	if r.MaxItems != nil && len(v) > *r.MaxItems {
		b = worst(b, breached("maxItems: got %d, want %d", len(v), *r.MaxItems))
	}
	if r.Items != nil {
		for i, item := range v {
			b = worst(b, schema.check(r.Items, item).below(strconv.Itoa(i)))
		}
	}
	if r.Contains != nil {
		var missing *breach
		for i, item := range v {
			m := schema.check(r.Contains, item).below(strconv.Itoa(i))
			if m == nil {
				return b
			}
			missing = worst(missing, m)
		}
		if missing == nil {
			missing = breached("no items match contains schema")
		}
		b = worst(b, missing)
	}
	return b
}

func (r *rule) text(v string) *breach {
	if n := utf8.RuneCountInString(v); n < r.MinLength {
		return breached("minLength: got %d, want %d", n, r.MinLength)
	}
	if r.Pattern.Regexp != nil && !r.Pattern.MatchString(v) {
		return breached("%s does not match pattern %s", quoted(v), quoted(r.Pattern.String()))
	}
	return nil
}

func (r *rule) number(v json.Number) *breach {
	x := rational(v)
	for _, limit := range []struct {
		name  string
		want  json.Number
		holds func(sign int) bool
	}{
		{"minimum", r.Minimum, func(sign int) bool { return sign >= 0 }},
		{"maximum", r.Maximum, func(sign int) bool { return sign <= 0 }},
		{"exclusiveMinimum", r.ExclusiveMinimum, func(sign int) bool { return sign > 0 }},
		{"exclusiveMaximum", r.ExclusiveMaximum, func(sign int) bool { return sign < 0 }},
	} {
		if limit.want != "" && !limit.holds(x.Cmp(rational(limit.want))) {
			got, _ := x.Float64()
			return breached("%s: got %v, want %s", limit.name, got, limit.want)
		}
	}
	return nil
}

// one holds if just one of the rules does.
func (schema *rule) one(rules []*rule, v any) *breach {
	var b *breach
	matched := -1
	for i, r := range rules {
		m := schema.check(r, v)
		switch {
		case m != nil:
			b = worst(b, m)
		case matched >= 0:
			return breached("'oneOf' failed, subschemas %d, %d matched", matched, i)
		default:
			matched = i
		}
	}
	if matched >= 0 {
		return nil
	}
	return b
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

// rational is the number as it is written; the canonical form has bounded its digits and its exponent.
func rational(n json.Number) *big.Rat {
	x, ok := new(big.Rat).SetString(string(n))
	if !ok {
		panic("not a number: " + string(n)) // the decoder of JSON refuses it
	}
	return x
}

func display(v any) string {
	if s, ok := v.(string); ok {
		return quoted(s)
	}
	return fmt.Sprint(v)
}

func quoted(s string) string {
	s = strings.ReplaceAll(fmt.Sprintf("%q", s), `\"`, `"`)
	return "'" + strings.ReplaceAll(s[1:len(s)-1], `'`, `\'`) + "'"
}
