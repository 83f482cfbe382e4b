package report

import (
	"fmt"
	"strings"
)

// bidi writes the characters that change the direction of text by their code
// point, such as ⟨U+202E⟩: a name with one of them could make a page show a
// number or a name otherwise than it is. The page itself has none.
//
// Source: Unicode Standard Annex 9, section 2.
var bidi = func() *strings.Replacer {
	var pairs []string
	for _, r := range []rune{0x061C, 0x200E, 0x200F, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069} {
		pairs = append(pairs, string(r), fmt.Sprintf("⟨U+%04X⟩", r))
	}
	return strings.NewReplacer(pairs...)
}()
