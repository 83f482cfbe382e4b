package fault

import (
	"errors"
	"io/fs"
	"strings"
	"unicode"
)

// The exit codes of the programs.
const (
	ExitDone    = 0
	ExitFailed  = 1
	ExitInput   = 2 // bad usage or input
	ExitRefused = 3 // by the budget's ledger
)

// Exit maps an error to the code that scripts go by. Packages say themselves what class
// their errors have.
func Exit(err error) int {
	if err == nil {
		return ExitDone
	}
	switch Of(err) {
	case RefusedFault:
		return ExitRefused
	case InputFault:
		return ExitInput
	case None:
		if errors.Is(err, fs.ErrNotExist) { // a file that the caller named
			return ExitInput
		}
	}
	return ExitFailed
}

// Printable is a text with nothing in it that would steer a terminal.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
