package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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
