package transcript_test

import (
	"crypto/ed25519"
	"fmt"
	"strings"

	"github.com/discreet-rl/discreet/internal/fleet/transcript"
)

func ExampleVerify() {
	root := ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey)
	_, err := transcript.Verify(strings.NewReader(""), root, nil)
	fmt.Println(err)
	// Output: the transcript does not hold: it was cut off: the signed end is missing
}
