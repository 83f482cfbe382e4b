package serve

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/internal/yamlfile"
)

// ErrConfig marks a configuration of the service that cannot be.
var ErrConfig = fault.Input("invalid configuration of the service")

// Role is what a person may do with a dataset.
type Role string

// The roles.
const (
	// roleAnalyst plans and asks, and sees their own asks and releases.
	roleAnalyst Role = "analyst"
	// roleSteward decides, grants, and sees everything of the dataset.
	roleSteward Role = "steward"
	// roleAuditor reads releases, asks and the audit log, and asks nothing.
	roleAuditor Role = "auditor"
)

// Config is the configuration of the service, in YAML. Its fields are its keys.
type Config struct {
	// Listen is host:port; 127.0.0.1:8420 by default. Outside loopback it needs TLS.
	Listen string `yaml:"listen"`
	// TLS names the PEM files of the server.
	TLS *struct {
		// Certificate is the chain that the server shows.
		Certificate string `yaml:"certificate"`
		// Key is its private key.
		Key string `yaml:"key"`
		// ClientRoots are authorities whose certificates identify people by their common
		// name; without them people need tokens.
		ClientRoots string `yaml:"client_roots"`
	} `yaml:"tls"`
	// Store is a SQLite file, for one process, or a postgres:// URL.
	Store string `yaml:"store"`
	// Files is a directory for the policies that analysts upload.
	Files string `yaml:"files"`
	// Tokens is the file of bearer tokens, which discreet serve token writes; or the word
	// store: they are kept in the store, a PostgreSQL database that services share.
	Tokens string `yaml:"tokens"`
	// OIDC names an OpenID Connect issuer whose tokens identify people.
	OIDC *OIDC `yaml:"oidc"`
	// Workers is the number of asks answered at a time; 1 by default.
	Workers int `yaml:"workers"`
	// CallsPerSecond bounds each person; 50 by default, and four times as many at once.
	CallsPerSecond int `yaml:"calls_per_second"`
	// Notify is where stewards are told that there is a notice.
	Notify *Notify `yaml:"notify"`
	// Backups has the service back itself up, as discreet serve backup does.
	Backups *struct {
		// Path is a directory for them alone. It is not made, so that a disk that is away is noticed.
		Path string `yaml:"path"`
		// Every is the time from one to the next, such as 24h.
		Every string `yaml:"every"`
		// Keep is how many are kept; 7 by default.
		Keep int `yaml:"keep"`
	} `yaml:"backup"`
	// Datasets by name.
	Datasets map[string]Dataset `yaml:"datasets"`

	// Dir is what relative paths are relative to: the directory of the file.
	Dir string `yaml:"-"`
}

// OIDC is an issuer of OpenID Connect.
type OIDC struct {
	// Issuer is its URL, of https, or of http on loopback.
	Issuer string `yaml:"issuer"`
	// Audience has to be among those of a token. It is the client that pages sign in as.
	Audience string `yaml:"audience"`
	// Claim is the one that holds a person's name, as it stands in people: sub, or one
	// that the issuer lets nobody choose for themselves.
	Claim string `yaml:"claim"`
	// Address is that of this service for browsers, such as https://curator.example.org:
	// the issuer sends them back to Address/signin/callback. The one that is listened to
	// by default, on loopback; without it elsewhere, pages are for tokens alone.
	Address string `yaml:"address"`
}

func (o OIDC) validate() error {
	var wrong []error
	if err := secureURL(o.Issuer); err != nil {
		wrong = append(wrong, fmt.Errorf("%w: oidc.issuer %w", ErrConfig, err))
	}
	if o.Audience == "" {
		wrong = append(wrong, fmt.Errorf("%w: oidc.audience is missing; name the client of this service at the issuer", ErrConfig))
	}
	if o.Claim == "" {
		wrong = append(wrong, fmt.Errorf("%w: oidc.claim is missing; name the claim that holds a person's name, such as sub", ErrConfig))
	}
	if o.Address != "" {
		u, err := url.Parse(o.Address)
		if secureURL(o.Address) != nil || err != nil || u.Path != "" || u.RawQuery != "" {
			wrong = append(wrong, fmt.Errorf("%w: oidc.address is %q; want scheme and host alone, such as https://curator.example.org", ErrConfig, o.Address))
		}
	}
	return errors.Join(wrong...)
}

// secureURL refuses what could be read or changed on the way.
func secureURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return fmt.Errorf("is %q; want a URL such as https://login.example.org", text)
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme != "https" && (u.Scheme != "http" || ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("is %q; want https, or http on loopback such as http://127.0.0.1:8080", text)
	}
	return nil
}

// Dataset is what a steward says of a dataset.
type Dataset struct {
	// Title is the name shown to people.
	Title string `yaml:"title"`
	// Config is the file of the steward's part of an evaluation: data, problem, features,
	// privacy without epsilon, ledger; and contract, with the methods that may be asked for.
	Config string `yaml:"config"`
	// Budget creates the ledger if there is none.
	Budget *struct {
		// Epsilon and Delta are the whole budget of the dataset.
		Epsilon float64 `yaml:"epsilon"`
		Delta   float64 `yaml:"delta"`
	} `yaml:"budget"`
	// Witness is a place that keeps the head of the ledger: a file on another disk,
	// git:REPOSITORY#REFERENCE, or an https URL. Without it, an older copy of all files gives budget back.
	Witness string `yaml:"witness"`
	// People and their roles. Names are of lower-case letters, digits, and any of "._-".
	People map[string]Role `yaml:"people"`
	// LargestEpsilon and LargestDelta bound one ask; 0 for no other bound than the budget.
	LargestEpsilon float64 `yaml:"largest_epsilon"`
	LargestDelta   float64 `yaml:"largest_delta"`
	// PolicyColumns are columns of the data with probabilities that questions may name as
	// policies, and GroupColumns those by which they may ask for groups, without "obs_".
	PolicyColumns []string `yaml:"policy_columns"`
	GroupColumns  []string `yaml:"group_columns"`
	// Approval by a steward: none (the default), steward, or above EPSILON, such as
	// "above 0.5".
	Approval string `yaml:"approval"`
	// Publish announces the end of an ask at once (the default), or "every 1h": at the next
	// full hour.
	Publish string `yaml:"publish"`
	// OpenAt and CloseAt bound when asks are accepted, such as 2026-11-30T08:00:00Z.
	OpenAt  string `yaml:"open_at"`
	CloseAt string `yaml:"close_at"`
	// AsksPerHour bounds an analyst; 60 by default.
	AsksPerHour int `yaml:"asks_per_hour"`
}

const (
	defaultListen = "127.0.0.1:8420"
	defaultAsks   = 60
	defaultCalls  = 50
	mostCalls     = 1_000_000
)

// Load reads a configuration, as strictly as every other: an unknown key is an error.
func Load(path string) (Config, error) {
	c, err := yamlfile.Load[Config](path, nil)
	if err != nil {
		return Config{}, err
	}
	// Another directory that the process works in later changes nothing.
	if c.Dir, err = filepath.Abs(filepath.Dir(path)); err != nil {
		return Config{}, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return c, c.Validate()
}

// nameForm is what people and datasets are called.
var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9._-]{0,63}$`) })

// Validate tells everything that is wrong, wrapping [ErrConfig].
func (c Config) Validate() error {
	var wrong []error
	say := func(format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("%w: "+format, append([]any{ErrConfig}, args...)...))
	}
	if c.Store == "" {
		say("store is missing; name a SQLite file, such as curator.db, or a postgres:// URL")
	}
	if c.Files == "" {
		say("files is missing; name a directory for the policies that analysts upload")
	}
	if c.Tokens == "" {
		say("tokens is missing; name a file for the hashes of bearer tokens, or write store to keep them in a postgres:// store")
	}
	if c.Tokens == inStore && c.Store != "" && !isPostgres(c.Store) {
		say("tokens is store, and the store is a SQLite file, which the running service keeps from the commands that make tokens; name a file, or a postgres:// URL as the store")
	}
	if c.Workers < 0 {
		say("workers is %d; want 1 or more", c.Workers)
	}
	if c.CallsPerSecond < 0 || c.CallsPerSecond > mostCalls {
		say("calls_per_second is %d; want 1 to %d, or 0 for %d", c.CallsPerSecond, mostCalls, defaultCalls)
	}
	if c.TLS != nil && (c.TLS.Certificate == "" || c.TLS.Key == "") {
		say("tls needs certificate and key, two PEM files")
	}
	if c.OIDC != nil {
		if err := c.OIDC.validate(); err != nil {
			wrong = append(wrong, err)
		}
	}
	if err := c.validateNotify(); err != nil {
		wrong = append(wrong, err)
	}
	if err := c.validateBackups(); err != nil {
		wrong = append(wrong, err)
	}
	if len(c.Datasets) == 0 {
		say("datasets is empty; a service without data has nothing to say")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Datasets)) {
		if !nameForm().MatchString(name) {
			say("datasets: %q; want lower-case letters, digits and any of ._-, a letter first, at most 64", name)
		}
		if err := c.Datasets[name].validate(); err != nil {
			wrong = append(wrong, fmt.Errorf("%w: datasets.%s: %w", ErrConfig, name, err))
		}
	}
	return errors.Join(wrong...)
}

func (d Dataset) validate() error {
	var wrong []error
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if d.Config == "" {
		say("config is missing; name the file of the steward's part")
	}
	if d.Budget != nil {
		if err := (dp.Budget{Epsilon: d.Budget.Epsilon, Delta: d.Budget.Delta}).Validate(); err != nil {
			say("budget: %w", err)
		}
	}
	steward := false
	for _, name := range slices.Sorted(maps.Keys(d.People)) {
		if !nameForm().MatchString(name) {
			say("people: %q; want lower-case letters, digits and any of ._-, a letter first, at most 64", name)
		}
		switch d.People[name] {
		case roleAnalyst, roleAuditor:
		case roleSteward:
			steward = true
		default:
			say("people.%s is %q; want analyst, steward or auditor", name, d.People[name])
		}
	}
	if !steward {
		say("people has no steward; somebody has to look at what goes wrong")
	}
	if !(d.LargestEpsilon >= 0 && d.LargestEpsilon <= 1e6) || !(d.LargestDelta >= 0 && d.LargestDelta < 1) {
		say("largest_epsilon is %g and largest_delta %g; want 0, for no bound, or above, and a delta below 1", d.LargestEpsilon, d.LargestDelta)
	}
	if _, err := d.approval(); err != nil {
		say("%w", err)
	}
	if _, err := d.every(); err != nil {
		say("%w", err)
	}
	if _, _, err := d.window(); err != nil {
		say("%w", err)
	}
	if d.AsksPerHour < 0 {
		say("asks_per_hour is %d; want 1 or more", d.AsksPerHour)
	}
	return errors.Join(wrong...)
}

// approval returns which asks wait for a steward.
func (d Dataset) approval() (approvalRule, error) {
	switch word, number, _ := strings.Cut(d.Approval, " "); word {
	case "", "none":
		if number == "" {
			return approvalRule{}, nil
		}
	case "steward":
		if number == "" {
			return approvalRule{needed: true}, nil
		}
	case "above":
		if epsilon, err := strconv.ParseFloat(number, 64); err == nil && epsilon >= 0 && epsilon <= 1e6 {
			return approvalRule{needed: true, above: epsilon}, nil
		}
	}
	return approvalRule{}, fmt.Errorf("approval is %q; want none, steward, or above EPSILON, such as above 0.5", d.Approval)
}

// approvalRule says which asks wait for a steward.
type approvalRule struct {
	needed bool
	above  float64
}

func (r approvalRule) waits(epsilon float64) bool { return r.needed && epsilon > r.above }

// every is the time between publications, 0 where they are made at once.
func (d Dataset) every() (time.Duration, error) {
	if d.Publish == "" || d.Publish == "at once" {
		return 0, nil
	}
	number, ok := strings.CutPrefix(d.Publish, "every ")
	every, err := time.ParseDuration(number)
	if !ok || err != nil || every < time.Second || every > 24*time.Hour {
		return 0, fmt.Errorf("publish is %q; want at once, or every DURATION from 1s to 24h, such as every 1h", d.Publish)
	}
	return every, nil
}

// window is when asks are taken; zero times are no bounds.
func (d Dataset) window() (open, end time.Time, err error) {
	for _, one := range []struct {
		key, text string
		to        *time.Time
	}{{"open_at", d.OpenAt, &open}, {"close_at", d.CloseAt, &end}} {
		if one.text == "" {
			continue
		}
		t, err := time.Parse(time.RFC3339, one.text)
		if err != nil {
			return open, end, fmt.Errorf("%s is %q; want a time such as 2026-11-30T08:00:00Z", one.key, one.text)
		}
		*one.to = t
	}
	if !open.IsZero() && !end.IsZero() && !open.Before(end) {
		return open, end, fmt.Errorf("open_at %s is not before close_at %s", d.OpenAt, d.CloseAt)
	}
	return open, end, nil
}

func (d Dataset) asksPerHour() int { return cmp.Or(d.AsksPerHour, defaultAsks) }

// path resolves a path of the configuration.
func (c Config) path(p string) string {
	if p == "" || filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(c.Dir, p)
}

// place resolves a store.
func (c Config) place(location string) string {
	if isPostgres(location) {
		return location
	}
	return c.path(location)
}

// witness resolves a witness.
func (c Config) witness(place string) string {
	for _, other := range []string{"git:", "https:", "http:"} {
		if strings.HasPrefix(place, other) {
			return place
		}
	}
	return c.path(place)
}

func isPostgres(location string) bool {
	u, err := url.Parse(location)
	return err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql")
}

// tls is the server's certificate; nil without one.
func (c Config) tls() *service.TLS {
	if c.TLS == nil {
		return nil
	}
	return &service.TLS{Certificate: c.path(c.TLS.Certificate), Key: c.path(c.TLS.Key), ClientRoots: c.path(c.TLS.ClientRoots)}
}
