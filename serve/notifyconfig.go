package serve

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/discreet-rl/discreet/serve/internal/notify"
)

// Notify is where stewards are told that there is a notice.
type Notify struct {
	// Address is that of this service for browsers, with which links begin; oidc.address by default.
	Address string `yaml:"address"`
	// Authorities is a PEM file of certificate authorities to trust beside those of the system.
	Authorities string `yaml:"authorities"`
	// Webhook is sent JSON by POST, and answers 2xx.
	Webhook *struct {
		// URL is of https, or of http on loopback.
		URL string `yaml:"url"`
		// Token is a file with a bearer token.
		Token string `yaml:"token"`
	} `yaml:"webhook"`
	// Mail is sent by SMTP.
	Mail *struct {
		// Server is host:port, such as smtp.example.org:587.
		Server string `yaml:"server"`
		// TLS is starttls (the default), implicit, or, on loopback, none.
		TLS string `yaml:"tls"`
		// From is the sender's address.
		From string `yaml:"from"`
		// User is the name at the server; none if it asks for none.
		User string `yaml:"user"`
		// Password is a file.
		Password string `yaml:"password"`
		// To has the address of each steward who gets mail, for their datasets.
		To map[string]string `yaml:"to"`
	} `yaml:"mail"`
}

// mailForm is an address without a name, comments or quotes.
var mailForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9.!#$%&'*+/=?^_{|}~-]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$`)
})

func (c Config) validateNotify() error {
	n := c.Notify
	if n == nil {
		return nil
	}
	var wrong []error
	say := func(format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("%w: notify."+format, append([]any{ErrConfig}, args...)...))
	}
	if n.Webhook == nil && n.Mail == nil {
		say("webhook or mail is missing; name where notices are told")
	}
	if u, err := url.Parse(c.notifyAddress()); secureURL(c.notifyAddress()) != nil || err != nil || u.Path != "" || u.RawQuery != "" {
		say("address is %q; want scheme and host alone, such as https://curator.example.org, with which links begin", c.notifyAddress())
	}
	if w := n.Webhook; w != nil {
		if err := secureURL(w.URL); err != nil {
			say("webhook.url %w", err)
		}
	}
	m := n.Mail
	if m == nil {
		return errors.Join(wrong...)
	}
	host, port, err := net.SplitHostPort(m.Server)
	if err != nil || host == "" || port == "" {
		say("mail.server is %q; want host:port, such as smtp.example.org:587", m.Server)
	}
	switch notify.Security(m.TLS) {
	case "", notify.StartTLS, notify.Implicit:
	case notify.Plain:
		if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
			say("mail.tls is none, which is for a server on loopback, such as 127.0.0.1:25; write starttls or implicit")
		}
	default:
		say("mail.tls is %q; want starttls, implicit or none", m.TLS)
	}
	if !mailForm().MatchString(m.From) {
		say("mail.from is %q; want an address alone, such as discreet@example.org", m.From)
	}
	if (m.User == "") != (m.Password == "") {
		say("mail.user and mail.password, a file, go together")
	}
	if strings.ContainsFunc(m.User, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		say("mail.user is %q; want one line", m.User)
	}
	if len(m.To) == 0 {
		say("mail.to is missing; write a steward and their address, such as {stella: stella@example.org}")
	}
	for _, person := range slices.Sorted(maps.Keys(m.To)) {
		if !mailForm().MatchString(m.To[person]) {
			say("mail.to.%s is %q; want an address alone, such as stella@example.org", person, m.To[person])
		}
		if len(c.stewarded(person)) == 0 {
			say("mail.to.%s is steward of no dataset", person)
		}
	}
	return errors.Join(wrong...)
}

func (c Config) notifyAddress() string {
	if c.Notify.Address == "" && c.OIDC != nil {
		return c.OIDC.Address
	}
	return c.Notify.Address
}

// stewarded are the datasets of a steward; those of all for no name.
func (c Config) stewarded(person string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Datasets)) {
		if person == "" || c.Datasets[name].People[person] == roleSteward {
			names = append(names, name)
		}
	}
	return names
}
