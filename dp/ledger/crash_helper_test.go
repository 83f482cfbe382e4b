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
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/atomicfile"
)

// The test binary is its own helper process: these variables say what it does.
const (
	roleVariable     = "DISCREET_LEDGER_TEST_ROLE" // "evaluate", "race", "make", "backup", "verify", "backups" or "exports"
	locationVariable = "DISCREET_LEDGER_TEST_LOCATION"
	noiseVariable    = "DISCREET_LEDGER_TEST_NOISE"
)

// helper opens the ledger, says so, waits for a line, and plays its role.
func helper(role string) int {
	switch role {
	case "make":
		return maker(os.Getenv(locationVariable))
	case "verify", "backups", "exports":
		return verifier(role, os.Getenv(locationVariable))
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
		case "backup":
			err = saveBackup(l, os.Getenv(locationVariable), func() {
				fmt.Println("written")
				select {}
			})
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

// verifier waits for a line, says whether what is at the location is refused, and
// then the line of /proc/self/status that tells the most memory it took.
func verifier(role, location string) int {
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')
	err := func() error {
		if role == "verify" {
			l, err := ledger.Open(context.Background(), location, "trial")
			if err != nil {
				return err
			}
			defer l.Close()
			return l.Verify(context.Background())
		}
		f, err := os.Open(location)
		if err != nil {
			panic(err)
		}
		defer f.Close()
		verify := ledger.VerifyBackup
		if role == "exports" {
			verify = ledger.VerifyExport
		}
		_, _, err = verify(f)
		return err
	}()
	if err == nil {
		fmt.Println("right")
		return 1
	}
	fmt.Println("refused", strings.ReplaceAll(err.Error(), "\n", " "))
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM:") {
			fmt.Print(line)
		}
	}
	return 0
}

// backupOf is where a backup of a ledger is written.
func backupOf(location string) string { return location + ".backup" }

// saveBackup writes a backup as the command line does, and calls f when all of it
// is written and it has no name yet.
func saveBackup(l *ledger.Ledger, location string, f func()) error {
	return atomicfile.Create(backupOf(location), 0o600, func(w io.Writer) error {
		err := l.Backup(context.Background(), w)
		f()
		return err
	})
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
// run, record, show. The steps go out by one write each, so that what was reported
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

// rest reads what the helper reported until it ended.
func (p *process) rest() (lines []string) {
	for p.lines.Scan() {
		lines = append(lines, p.lines.Text())
	}
	p.cmd.Wait()
	return lines
}
