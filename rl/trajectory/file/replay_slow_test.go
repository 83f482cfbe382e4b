//go:build slow

package file_test

import (
	"flag"
	"testing"
)

var replayPairs = flag.Int("pairs", 3000, "pairs of logs a format in TestReaderReplayAtLength")

func TestReaderReplayAtLength(t *testing.T) { replayAll(t, *replayPairs, *replayPairs) }
