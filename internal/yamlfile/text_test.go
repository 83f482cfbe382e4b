package yamlfile

import (
	"errors"
	"strings"
	"testing"
)

// A line end that not everybody sees is refused, with its place and its number, in a file and
// in an override; those that everybody sees are not, nor is one that is written as an escape.
func TestHiddenLineEndsAreRefused(t *testing.T) {
	type form struct {
		A string `yaml:"a"`
		B string `yaml:"b"`
	}
	for end, number := range map[string]string{"\u0085": "U+0085", "\u2028": "U+2028", "\u2029": "U+2029", "\r": "U+000D"} {
		_, err := Decode[form]("f.yaml", []byte("a: x\n# a comment"+end+"b: y\n"), nil)
		if !errors.Is(err, ErrSyntax) || !strings.Contains(err.Error(), "f.yaml:2") || !strings.Contains(err.Error(), number) {
			t.Errorf("%s in a comment: %v", number, err)
		}
		if _, err := Decode[form]("f.yaml", []byte("a: \"x"+end+"y\"\n"), nil); !errors.Is(err, ErrSyntax) {
			t.Errorf("%s in quotes: %v", number, err)
		}
		if _, err := Decode[form]("f.yaml", []byte("a: x"+end), nil); !errors.Is(err, ErrSyntax) {
			t.Errorf("%s at the end: %v", number, err)
		}
		if _, err := Decode[form]("f.yaml", []byte("a: x\n"), []string{"b=y" + end}); !errors.Is(err, ErrSyntax) {
			t.Errorf("%s in an override: %v", number, err)
		}
	}
	for _, text := range []string{"a: x\r\nb: y\r\n", "a: x\nb: y", "a: x\nb: \"y\\u2028\""} {
		if v, err := Decode[form]("f.yaml", []byte(text), nil); err != nil || v.A != "x" || v.B[0] != 'y' {
			t.Errorf("%q: %+v, %v", text, v, err)
		}
	}
}
