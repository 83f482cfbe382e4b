package report

import (
	"fmt"
	"strings"
	"unicode"
)

// bidi writes the characters that change the direction of text, or steer a
// terminal, or cannot be seen, by their code point, such as ⟨U+202E⟩: a name with
// one of them could make a page show a number or a name otherwise than it is. The
// page itself has none.
//
// Source: Unicode Standard Annex 9, section 2.
var bidi = func() *strings.Replacer {
	var pairs []string
	steering := []rune{0x061C, 0x200E, 0x200F, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069, 0x2028, 0x2029, 0x200B, 0xFEFF}
	for r := rune(0); r < 0xA0; r++ {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			steering = append(steering, r)
		}
	}
	for _, r := range steering {
		pairs = append(pairs, string(r), fmt.Sprintf("⟨U+%04X⟩", r))
	}
	return strings.NewReplacer(pairs...)
}()
