//go:build slow

package file_test

import "testing"

func TestReaderReplayAtLength(t *testing.T) { replayAll(t, 20_000, 20_000) }
