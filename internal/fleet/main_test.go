package fleet_test

import (
	"os"
	"testing"

	"github.com/discreet-rl/discreet/internal/fuzzmain"
)

func TestMain(m *testing.M) { os.Exit(fuzzmain.Main(m)) }
