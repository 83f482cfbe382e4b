package config

import (
	"fmt"
	"io"
	"os"
	"strings"

	"go.yaml.in/yaml/v4"
)

// maxText bounds a configuration: the decoder takes some ten times its length.
const maxText = 4 << 20

// readText reads a configuration, whose length is checked before it is all read.
func readText(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	return text, checkLength(path, text)
}

func checkLength(name string, text []byte) error {
	if len(text) > maxText {
		return fmt.Errorf("%w: %s: is longer than 4 MiB, the limit of a configuration; keep tables and data in files of their own", ErrSyntax, name)
	}
	return nil
}

// checkNumbers refuses numbers that YAML reads otherwise than they look: 1_0 is
// 10 to it, 0470 the octal 312, 0x10 is 16, and +7 a 7 without its sign.
func checkNumbers(name string, text []byte) error {
	var root yaml.Node
	if err := yaml.Load(text, &root); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrSyntax, name, err)
	}
	n := misread(&root)
	if n == nil {
		return nil
	}
	what := "`" + n.Value + "`"
	at := yaml.Mark{Line: n.Line, Column: n.Column}
	if key := keyBelow(&root, "", at); key != "" {
		what = key + " is " + what
	}
	place := name
	if !strings.HasPrefix(name, setName) { // the lines are those of a text that nobody wrote
		place = fmt.Sprintf("%s:%d", name, n.Line)
	}
	return fmt.Errorf("%w: %s: %s; write a decimal number without underscores, leading zeros or a plus sign, or text in quotes", ErrSyntax, place, what)
}

// quoted is the styles of what is text whatever it looks like.
const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// misread finds the first such number that is a value; keys are text.
func misread(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.ScalarNode {
		tag := n.ShortTag()
		if n.Style&quoted == 0 && (tag == "!!int" || tag == "!!float") && looksOtherwise(n.Value) {
			return n
		}
		return nil
	}
	for i, below := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			continue
		}
		if found := misread(below); found != nil {
			return found
		}
	}
	return nil
}

func looksOtherwise(number string) bool {
	digits := strings.TrimLeft(number, "+-")
	other := len(digits) > 1 && digits[0] == '0' && strings.ContainsRune("0123456789xXoObB", rune(digits[1]))
	return other || number[0] == '+' || strings.Contains(number, "_")
}
