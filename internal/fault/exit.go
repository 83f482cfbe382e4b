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
	ExitPartial = 4 // nothing wrong was found, and not all could be checked
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
	case PartialFault:
		return ExitPartial
	case None:
		if errors.Is(err, fs.ErrNotExist) { // a file that the caller named
			return ExitInput
		}
	}
	return ExitFailed
}

// Quoted is a text of somebody else's as an error may show it: on one line, of at most so many bytes.
func Quoted(text string, longest int) string {
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "..."
	}
	return printable(text, "")
}

// Printable is a text with nothing in it that would steer a terminal.
func Printable(text string) string { return printable(text, "\n\t") }

// printable marks what cannot be printed, but for the characters that may stay.
func printable(text, stay string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && !strings.ContainsRune(stay, r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
