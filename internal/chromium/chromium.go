package chromium

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// ErrUnavailable marks a machine without Chromium, or without the registry that axe-core
// comes from.
var ErrUnavailable = errors.New("no Chromium for the tests")

// Required reports that a missing browser is a failure and no reason to skip: the
// environment variable CI is "true".
func Required() bool { return os.Getenv("CI") == "true" }

// axeVersion is the version of the rules.
const axeVersion = "4.11.0"

// patience is how long a page may take.
const patience = time.Minute

// Browser is a running Chromium with one tab.
type Browser struct {
	ctx  context.Context
	axe  string
	mu   sync.Mutex
	said []string
	end  []context.CancelFunc
}

// Window is what a page is looked at in.
type Window struct {
	Width, Height int64
	Dark          bool
}

// windows are those that every page is looked at in: wide and narrow, light and dark.
var windows = []Window{{Width: 1280, Height: 900}, {Width: 1280, Height: 900, Dark: true}, {Width: 400, Height: 800}, {Width: 400, Height: 800, Dark: true}}

// picturesVariable names a directory that keeps what the pages look like.
const picturesVariable = "DISCREET_PICTURES"

// Start starts Chromium and fetches the rules of axe-core by npm.
func Start(ctx context.Context) (*Browser, error) {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, fmt.Errorf("%w: none on the PATH", ErrUnavailable)
	}
	axe, err := fetchAxe(ctx)
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU)
	allocator, endAllocator := chromedp.NewExecAllocator(ctx, options...)
	tab, endTab := chromedp.NewContext(allocator)
	b := &Browser{ctx: tab, axe: axe, end: []context.CancelFunc{endTab, endAllocator}}
	chromedp.ListenTarget(tab, b.listen)
	if err := chromedp.Run(tab, log.Enable(), runtime.Enable()); err != nil {
		b.Stop()
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return b, nil
}

// Stop ends the browser.
func (b *Browser) Stop() {
	for _, end := range b.end {
		end()
	}
}

// listen notes what the console says.
func (b *Browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
			b.said = append(b.said, "console: "+e.Entry.Text)
		}
	case *runtime.EventExceptionThrown:
		b.said = append(b.said, "exception: "+e.ExceptionDetails.Error())
	}
}

// Run runs actions in the tab.
func (b *Browser) Run(actions ...chromedp.Action) error {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, actions...)
}

// Look loads a page in a window and returns what is wrong with it, and a picture of the
// whole page as PNG.
func (b *Browser) Look(url string, w Window) (faults []string, picture []byte, err error) {
	scheme := "light"
	if w.Dark {
		scheme = "dark"
	}
	b.mu.Lock()
	b.said = nil
	b.mu.Unlock()
	var out int64
	var found string
	err = b.Run(
		emulation.SetDeviceMetricsOverride(w.Width, w.Height, 1, w.Width < 600),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		chromedp.Navigate(url),
		chromedp.WaitVisible("main", chromedp.ByQuery),
		chromedp.Evaluate(`document.documentElement.scrollWidth - window.innerWidth`, &out),
		chromedp.FullScreenshot(&picture, 100),
		chromedp.Evaluate(b.axe+";0", nil),
		chromedp.Evaluate(`axe.run().then(r => JSON.stringify(r.violations.filter(v => v.impact === "serious" || v.impact === "critical").map(v => v.id + ": " + v.nodes.map(n => n.html).join(" "))))`, &found,
			func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }),
	)
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal([]byte(found), &faults); err != nil {
		return nil, nil, err
	}
	if out > 0 {
		faults = append(faults, fmt.Sprintf("the page is %d pixels wider than the window", out))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return append(faults, b.said...), picture, nil
}

// LookEverywhere looks at a page in a wide and a narrow window, in light and in dark, and returns
// what is wrong. Where the environment's DISCREET_PICTURES names a directory, it keeps pictures
// there under the page's name.
func (b *Browser) LookEverywhere(name, url string) ([]string, error) {
	var out []string
	for _, w := range windows {
		faults, picture, err := b.Look(url, w)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, f := range faults {
			out = append(out, fmt.Sprintf("%s, %d pixels, dark %v: %s", name, w.Width, w.Dark, f))
		}
		if dir := os.Getenv(picturesVariable); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d-%v.png", name, w.Width, w.Dark)), picture, 0o644); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// fetchAxe gets the script of axe-core from the npm registry.
func fetchAxe(ctx context.Context) (string, error) {
	dir, err := os.MkdirTemp("", "axe")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	cmd := exec.CommandContext(ctx, "npm", "pack", "--silent", "axe-core@"+axeVersion)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: npm pack axe-core: %w: %s", ErrUnavailable, err, out)
	}
	f, err := os.Open(filepath.Join(dir, "axe-core-"+axeVersion+".tgz"))
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return "", err
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if err != nil {
			return "", fmt.Errorf("axe-core %s has no axe.min.js: %w", axeVersion, err)
		}
		if h.Name == "package/axe.min.js" {
			text, err := io.ReadAll(io.LimitReader(t, 4<<20))
			return string(text), err
		}
	}
}
