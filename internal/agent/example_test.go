package agent_test

import (
	"fmt"
	"io"

	"github.com/discreet-rl/discreet/internal/agent"
)

func ExampleMain() {
	fmt.Println(agent.Main([]string{"there-is-none.yaml"}, nil, io.Discard, io.Discard))
	// Output: 2
}
