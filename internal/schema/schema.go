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
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

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

// base is where the schemas have their identifiers. Nothing is fetched from it.
const base = "https://github.com/discreet-rl/discreet/docs/schema/"

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
	s, err := compile(n)
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	err = s.Validate(v)
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		at := deepest(invalid)
		return fmt.Errorf("%w: %s: /%s: %s", ErrInvalid, n, printable(strings.Join(at.InstanceLocation, "/")),
			printable(at.ErrorKind.LocalizedString(message.NewPrinter(language.English))))
	}
	return err
}

func compile(n Name) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(nothing{})
	text, err := Text(n)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	if err := c.AddResource(base+string(n), doc); err != nil {
		return nil, err
	}
	return c.Compile(base + string(n))
}

// printable is a text of the document as it may stand in an error.
func printable(text string) string {
	return fault.Quoted(text, 300)
}

// nothing keeps the validator from the file system and the network.
type nothing struct{}

func (nothing) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is not one of the schemas of this package", url)
}

// deepest is the cause that lies furthest inside the document: of several forms
// that a value could have had, the one that it nearly has.
func deepest(e *jsonschema.ValidationError) *jsonschema.ValidationError {
	best := e
	for i, c := range e.Causes {
		if d := deepest(c); i == 0 || len(d.InstanceLocation) > len(best.InstanceLocation) {
			best = d
		}
	}
	return best
}
