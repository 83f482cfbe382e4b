// Package schema holds the JSON Schemas (draft 2020-12) of what the commands
// write, and checks documents against them:
//
//	err := schema.Check(schema.Release, text)
//
// release.v1.json is the form of a release, ledger.v1.json that of `discreet
// ledger show --json`, event.v1.json that of the events which `discreet account` reads. The schemas are as strict as the writers: a member that
// they do not know is an error, so that nothing leaves undocumented. Each file
// stands by itself: no validator needs another file, or the network. The files are
// published in docs/schema; those here are copies, which a test compares.
package schema

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/jcs"
)

// ErrInvalid marks a document that does not follow its schema.
var ErrInvalid = errors.New("document does not follow its schema")

// Name is a schema of this package.
type Name string

// The schemas.
const (
	Release Name = "release.v1.json"
	Ledger  Name = "ledger.v1.json"
	Event   Name = "event.v1.json"
)

//go:generate cp ../../docs/schema/release.v1.json ../../docs/schema/ledger.v1.json ../../docs/schema/event.v1.json .
//go:embed *.json
var files embed.FS

// Text returns the schema itself.
func Text(n Name) ([]byte, error) { return files.ReadFile(string(n)) }

// Check holds a document against a schema. The error wraps [ErrInvalid] and names
// the place in the document as a JSON pointer. The document may be hostile: one
// without a canonical form (a repeated member, a number beyond float64) is invalid
// as well, and an error is one line of printable text.
func Check(n Name, document []byte) error {
	if _, err := jcs.Canonical(document); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrInvalid, n, err)
	}
	s, err := rules[n]()
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if b := s.check(s, v); b != nil {
		slices.Reverse(b.at)
		return fmt.Errorf("%w: %s: /%s: %s", ErrInvalid, n, printable(strings.Join(b.at, "/")), printable(b.words))
	}
	return nil
}

// definitions begins every reference: schemas refer to their own definitions alone.
const definitions = "#/$defs/"

// rules are read when the first document is checked.
var rules = map[Name]func() (*rule, error){Release: reading(Release), Ledger: reading(Ledger), Event: reading(Event)}

func reading(n Name) func() (*rule, error) {
	return sync.OnceValues(func() (*rule, error) {
		text, err := Text(n)
		if err != nil {
			return nil, err
		}
		s := new(rule)
		return s, json.Unmarshal(text, s)
	})
}

// printable is a text of the document as it may stand in an error.
func printable(text string) string {
	return fault.Quoted(text, 300)
}
