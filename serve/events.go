package serve

// The events of the audit log that are no change of an ask: what is refused, who signs in, what is
// read and what is changed. docs/serve.md lists them. None holds what a client sent but the names
// of people, datasets and asks that there are.

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"path"
	"reflect"
	"slices"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/serve/internal/asks"
	"github.com/discreet-rl/discreet/serve/internal/tokens"
)

// What the audit log says.
const (
	readsRelease    = "reads the release"
	verifiesRelease = "verifies the release"
	signsIn         = "signs in with a token"
	signsInByIssuer = "signs in through the issuer"
	signsOut        = "signs out"
	refusesSignIn   = "refused: sign-in with a token"
	refusesIssuers  = "refused: sign-in through the issuer"
	refusesSession  = "refused: a session that is over or was never begun"
	refusesSite     = "refused: a form of another site"
	refusesPages    = "refused: too many pages"
	refusesOthers   = "refused: others than are counted by themselves"
	refusesCall     = "refused: " // and the call
)

// refusals are what the log says of a request that is refused before its handler sees it.
var refusals = map[string]string{
	"anonymous": "refused: no valid token or certificate",
	"role":      "refused: a role without this access",
	"revoked":   "refused: a certificate that was revoked",
	"rate":      "refused: too many calls",
	"address":   "refused: too many requests",
}

// Who stands in the log where no person of the service does something. No person can be called so.
const (
	nobody   = "(nobody)"
	operator = "(operator)"
)

// What is counted at a time: by address where nobody is known, and by person. Persons, who may call
// no oftener than calls_per_second, have a line for each that is more.
const (
	mostStrangers = 1024
	mostPersons   = 1 << 16
)

// events are what tells the audit log.
type events struct {
	trail     *trail
	strangers *tally // told apart by their address alone
	persons   *tally
	of        map[string][]string // the datasets of a person
}

// newEvents tells a store. What fails when nobody is left to be told is for failed.
func newEvents(c Config, store *asks.Store, failed func(error)) *events {
	e := &events{trail: newTrail(store.NoteAll), of: c.datasetsOf()}
	e.strangers, e.persons = newTally(e.trail.record, mostStrangers, failed), newTally(e.trail.record, mostPersons, failed)
	e.strangers.rest = asks.Note{By: asks.By{Who: nobody}, What: refusesOthers}
	return e
}

func newTally(record func(...asks.Note) error, most int, failed func(error)) *tally {
	return &tally{record: record, window: tallyWindow, most: most, failed: failed, open: map[asks.Note]*count{}}
}

// close writes what was counted.
func (e *events) close() error { return errors.Join(e.strangers.close(), e.persons.close()) }

// datasetsOf lists the datasets of each person.
func (c Config) datasetsOf() map[string][]string {
	of := map[string][]string{}
	for name, d := range c.Datasets {
		for person := range d.People {
			of[person] = append(of[person], name)
		}
	}
	for _, names := range of {
		slices.Sort(names)
	}
	return of
}

// at is the address of a request without its port. Of IPv6 a stranger has the first 64 bits.
func at(remote string, stranger bool) string {
	a, err := netip.ParseAddrPort(remote)
	if err != nil {
		host, _, _ := net.SplitHostPort(remote)
		return host
	}
	ip := a.Addr().Unmap().WithZone("")
	if stranger && ip.Is6() {
		if p, err := ip.Prefix(64); err == nil {
			return p.String()
		}
	}
	return ip.String()
}

// stranger notes what nobody of the service did.
func (e *events) stranger(remote, what string) error {
	return e.strangers.note(asks.Note{By: asks.By{Who: nobody, Address: at(remote, true)}, What: what})
}

// person notes what a person did that is of no dataset: in all of theirs, so that only those
// learn of it who share one with them.
func (e *events) person(name, remote, what string) error {
	by := asks.By{Who: name, Address: at(remote, false)}
	notes := []asks.Note{{By: by, What: what}}
	if of := e.of[name]; len(of) > 0 {
		notes = nil
		for _, dataset := range of {
			notes = append(notes, asks.Note{By: by, Dataset: dataset, What: what})
		}
	}
	return e.persons.note(notes...)
}

// inDataset notes what a person did in a dataset.
func (e *events) inDataset(name, remote, dataset, ask, what string) error {
	return e.persons.note(asks.Note{By: asks.By{Who: name, Address: at(remote, false)}, Dataset: dataset, Ask: ask, What: what})
}

// told answers in the place of what could not be recorded.
func (s *Service) told(err error) error {
	if err != nil {
		s.unrecorded.Inc()
		s.log.Error("the audit log cannot be written, and nothing is answered that has to stand there", "error", err)
		return connect.NewError(connect.CodeUnavailable, errors.New("the service cannot answer at the moment; the same call may be made again"))
	}
	return nil
}

// gateRefused notes what the gate of a route refuses.
func (s *Service) gateRefused(r *http.Request, id service.Identity, reason string) error {
	what := refusals[reason]
	switch id.Role {
	case "":
		return s.told(s.events.stranger(r.RemoteAddr, what))
	case personRole:
		return s.told(s.events.person(id.Name, r.RemoteAddr, what))
	}
	return s.told(s.events.strangers.note(asks.Note{By: asks.By{Who: operator, Address: at(r.RemoteAddr, true)}, What: what}))
}

// noteRefused notes that a person was refused a call: in the dataset that it is about, or, where
// there is none, in those of the person.
func (s *Service) noteRefused(ctx context.Context, procedure, dataset, ask string, refused error) error {
	id, _ := service.IdentityOf(ctx)
	what := refusesCall + path.Base(procedure)
	if s.datasets[dataset] == nil {
		if err := s.told(s.events.person(id.Name, addressOf(ctx), what)); err != nil {
			return err
		}
		return refused
	}
	if err := s.told(s.events.inDataset(id.Name, addressOf(ctx), dataset, ask, what)); err != nil {
		return err
	}
	return refused
}

// reads notes that a caller reads something.
func (s *Service) reads(ctx context.Context, who *caller, ask, what string) error {
	return s.told(s.events.inDataset(who.name, addressOf(ctx), who.dataset.name, ask, what))
}

// changes makes a change of a dataset's ledger that the log says before it is made. What becomes
// of a change that fails stands there too.
func (s *Service) changes(ctx context.Context, who *caller, what string, change func(*ledger.Ledger) error) error {
	note := asks.Note{By: who.by, Dataset: who.dataset.name, What: what}
	if err := s.told(s.events.trail.record(note)); err != nil {
		return err
	}
	err := s.withLedger(ctx, who.dataset, change)
	if err == nil {
		return nil
	}
	note.What += ": refused, nothing was changed"
	if connect.CodeOf(err) != connect.CodeInvalidArgument {
		note.What = what + ": failed, the ledger says whether it was changed"
	}
	if untold := s.told(s.events.trail.record(note)); untold != nil {
		return untold
	}
	return err
}

// noting has the audit log told of each change of the tokens before it is in force. Where it
// cannot be told, the tokens cannot be read.
func (s *Service) noting(source tokens.Source) tokens.Source {
	var noted, untold []tokens.Token
	begun, due := false, false
	of := func(person string) []string { return s.events.of[person] }
	return func() ([]tokens.Token, bool, error) {
		all, same, err := source()
		if err != nil || same && !due {
			return nil, same, err
		}
		if same {
			all = untold // the source does not say them again
		}
		if !begun || !reflect.DeepEqual(all, noted) {
			untold, due = all, true
			ctx, cancel := context.WithTimeout(context.Background(), storeTime)
			defer cancel()
			if err := s.store.NoteTokens(ctx, all, of); err != nil {
				return nil, false, err
			}
		}
		noted, untold, begun, due = all, nil, true, false
		return all, false, nil
	}
}
