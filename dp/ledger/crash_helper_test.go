package ledger_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
)

// The test binary is its own helper process: these variables say what it does.
const (
	roleVariable     = "DISCREET_LEDGER_TEST_ROLE" // "evaluate", "race" or "make"
	locationVariable = "DISCREET_LEDGER_TEST_LOCATION"
	noiseVariable    = "DISCREET_LEDGER_TEST_NOISE"
)

// helper opens the ledger, says so, waits for a line, and plays its role.
func helper(role string) int {
	if role == "make" {
		return maker(os.Getenv(locationVariable))
	}
	l, err := ledger.Open(context.Background(), os.Getenv(locationVariable), "trial")
	if err != nil {
		fmt.Println("failed", err)
		return 1
	}
	noise, err := strconv.ParseFloat(os.Getenv(noiseVariable), 64)
	if err != nil {
		return 1
	}
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')
	event := dp.Gaussian{NoiseMultiplier: noise}
	for n := 0; ; n++ {
		switch role {
		case "evaluate":
			err = evaluate(l, event, os.Stdout)
		case "race":
			_, err = l.Charge(context.Background(), ask(event))
		}
		if errors.Is(err, ledger.ErrBudget) {
			fmt.Println("refused", n)
			return 0
		}
		if err != nil {
			fmt.Println("failed", err)
			return 1
		}
	}
}

// maker waits for a line, opens the ledger and makes it where it is not there, as
// an agent's wallet does.
func maker(location string) int {
	ctx := context.Background()
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')
	l, err := ledger.Open(ctx, location, "trial")
	if errors.Is(err, ledger.ErrNotLedger) || errors.Is(err, ledger.ErrNoDataset) {
		l, err = ledger.Create(ctx, location, plain(someBudget))
		if errors.Is(err, ledger.ErrExists) {
			l, err = ledger.Open(ctx, location, "trial")
		}
	}
	if err == nil {
		_, err = l.Charge(ctx, ask(dp.Gaussian{NoiseMultiplier: 1000}))
	}
	if err != nil {
		fmt.Println("failed", err)
		return 1
	}
	fmt.Println("charged")
	return 0
}

// evaluate does what a release does, step by step, and tells each step: charge,
// run, record, show. The steps go out by one write each, so that what was told
// before a kill has happened before it.
func evaluate(l *ledger.Ledger, event dp.Event, out io.Writer) error {
	ctx := context.Background()
	c := ask(event)
	fmt.Fprintln(out, "asked", c.Key)
	g, err := l.Charge(ctx, c)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "granted", c.Key)
	if err := g.Receipt.Redeem(c.Adjacency, c.Event); err != nil {
		return err
	}
	fmt.Fprintln(out, "drawn", c.Key) // from here on the noise may be known to somebody
	release, err := json.Marshal(map[string]any{"value": ledger.NewKey(), "ledger": g.Receipt.Stamp()})
	if err != nil {
		return err
	}
	if err := l.Record(ctx, g.Receipt, release); err != nil {
		return err
	}
	fmt.Fprintln(out, "recorded", c.Key)
	fmt.Fprintln(out, "shown", c.Key, base64.StdEncoding.EncodeToString(release))
	return nil
}

// process is a running helper.
type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner
}

func launch(t testing.TB, role, location string, noise float64) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), roleVariable+"="+role, locationVariable+"="+location,
		noiseVariable+"="+strconv.FormatFloat(noise, 'g', -1, 64))
	p.cmd.Stderr = os.Stderr
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(out)
	if !p.lines.Scan() || p.lines.Text() != "ready" {
		t.Fatalf("helper: %q", p.lines.Text())
	}
	return p
}

// start lets the helper go.
func (p *process) start() { p.stdin.Write([]byte("\n")) }

// rest reads what the helper told until it ended.
func (p *process) rest() (lines []string) {
	for p.lines.Scan() {
		lines = append(lines, p.lines.Text())
	}
	p.cmd.Wait()
	return lines
}
