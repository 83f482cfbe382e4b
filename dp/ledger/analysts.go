package ledger

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger/internal/store"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

// analyst is what is kept of an analyst beside the chain.
type analyst struct {
	Share   *chain.ShareBody `json:"share,omitempty"`
	Spent   account.Cost     `json:"spent"`
	Charges int64            `json:"charges"`
}

func (l *Ledger) analyst(tx *store.Tx, name string) (analyst, error) {
	var a analyst
	body, err := tx.Analyst(name)
	if err != nil || body == nil {
		return a, err
	}
	if json.Unmarshal(body, &a) != nil {
		return a, store.Abort(l.tampered(-1, "the sums of an analyst cannot be read"))
	}
	return a, nil
}

func setAnalyst(tx *store.Tx, name string, a analyst) error {
	body, err := json.Marshal(a)
	if err != nil {
		return store.Abort(err)
	}
	return tx.SetAnalyst(name, body)
}

// listedName is what a closed list takes for a name. Every look-alike of other
// alphabets, widths, cases and invisible characters is outside it.
var listedName = regexp.MustCompile(`^[a-z0-9][a-z0-9._@+-]*$`)

// lookAlikes is what the skeletons of Unicode Technical Standard 39 come to in
// the letters of listedName.
var lookAlikes = strings.NewReplacer("0", "o", "1", "l", "rn", "m")

// listed are the analysts that have a share.
func (l *Ledger) listed(tx *store.Tx) ([]string, error) {
	names, err := tx.Analysts()
	if err != nil {
		return nil, err
	}
	var all []string
	for _, name := range names {
		a, err := l.analyst(tx, name)
		if err != nil {
			return nil, err
		}
		if a.Share != nil {
			all = append(all, name)
		}
	}
	return all, nil
}

// mayAsk refuses an analyst who is not on a closed list. There is a list once one
// analyst has a share.
func (l *Ledger) mayAsk(tx *store.Tx, name string, a analyst) error {
	if !l.open.ClosedList || a.Share != nil {
		return nil
	}
	all, err := l.listed(tx)
	if err != nil || len(all) == 0 {
		return err
	}
	return store.Abort(fmt.Errorf("%w: dataset %q: %+q has no share, and only analysts who have one may charge; names are compared letter by letter; the steward can give a share (discreet ledger budget --analyst)", ErrAnalyst, l.open.Dataset, name))
}

// mayBeListed refuses, on a closed list, a name that could be taken for another.
func (l *Ledger) mayBeListed(tx *store.Tx, name string) error {
	if !l.open.ClosedList {
		return nil
	}
	if !listedName.MatchString(name) {
		return store.Abort(fmt.Errorf("%w: analyst %+q; want small letters a to z, digits and . _ @ + -, beginning with a letter or a digit, such as %s", ErrConfig, name, "ada.lovelace"))
	}
	all, err := l.listed(tx)
	if err != nil {
		return err
	}
	for _, other := range all {
		if other != name && lookAlikes.Replace(other) == lookAlikes.Replace(name) {
			return store.Abort(fmt.Errorf("%w: analyst %q reads like %q, who has a share already; choose another name", ErrConfig, name, other))
		}
	}
	return nil
}
