package device_test

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/discreet-rl/discreet/fleet/device"
)

// A learner that is a program of its own speaks lines of JSON; here it asks for a round when the run has ended. What the agent does
// with its answers is in the documentation of Agent.
func Example() {
	in, program := io.Pipe()
	answers, out := io.Pipe()
	learner := device.NewStdio(in, out)
	learner.End()
	go func() { _, _ = io.WriteString(program, `{"op":"next"}`+"\n") }()
	lines := bufio.NewScanner(answers)
	go func() {
		lines.Scan()
		fmt.Println(lines.Text())
		program.Close()
	}()
	if err := learner.Serve(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: {"state":"ended"}
}
