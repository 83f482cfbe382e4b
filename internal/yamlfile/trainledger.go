package yamlfile

import "net/url"

// LedgerName names the store of the agents' budgets as the configuration does, but
// for a password in it; empty without one.
func (t Train) LedgerName() string {
	if t.Ledger == nil {
		return ""
	}
	if u, err := url.Parse(t.Ledger.Path); err == nil && u.User != nil {
		return u.Redacted()
	}
	return t.Ledger.Path
}
