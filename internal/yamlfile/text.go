package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"
)

// maxText bounds a configuration: the decoder takes some ten times its length.
const maxText = 4 << 20

// readText reads a configuration, whose length is checked before it is all read.
func readText(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s: %w; correct the path (`discreet init` writes a first configuration of an evaluation)", ErrSyntax, path, fs.ErrNotExist)
	}
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

// checkLineEnds refuses characters at which YAML ends a line, and an editor, a terminal or a
// page does not: what stands behind a # is then read, and shown as part of a comment.
func checkLineEnds(name string, text []byte) error {
	i := bytes.IndexFunc(text, func(r rune) bool { return r == '\u0085' || r == '\u2028' || r == '\u2029' })
	for from := 0; i < 0; {
		at := bytes.IndexByte(text[from:], '\r')
		if at < 0 {
			return nil
		}
		if from += at + 1; from == len(text) || text[from] != '\n' {
			i = from - 1
		}
	}
	r, _ := utf8.DecodeRune(text[i:])
	place := name
	if !strings.HasPrefix(name, setName) {
		place = fmt.Sprintf("%s:%d", name, 1+bytes.Count(text[:i], []byte("\n")))
	}
	return fmt.Errorf("%w: %s: it holds the character %U, which ends a line for YAML and may not be shown as one; remove it, or in a quoted text write \\u%04[3]x", ErrSyntax, place, r)
}
