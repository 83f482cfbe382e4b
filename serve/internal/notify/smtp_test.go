package notify_test

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
)

// mailServer is a server of SMTP (RFC 5321) with STARTTLS (3207) and AUTH PLAIN (4954), as strict
// as what it is told to be.
type mailServer struct {
	tls            *tls.Config // nil: it offers none
	user, password string      // empty: it asks for none
	implicit       bool
	refuses        string // a command that it refuses
	drops          string // one at which it hangs up

	mu    sync.Mutex
	mails []string // envelope and text
	said  []string // commands, as they came
}

// serve returns the address.
func (m *mailServer) serve(t *testing.T) string { return listening(t, m.talk) }

// listening is the address of a server that talks so with whoever comes.
func listening(t *testing.T, talk func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go talk(c)
		}
	}()
	return l.Addr().String()
}

func (m *mailServer) talk(c net.Conn) {
	defer func() { c.Close() }()
	safe := false
	if m.implicit {
		c, safe = tls.Server(c, m.tls), true
	}
	in := bufio.NewReader(c)
	say := func(format string, args ...any) { fmt.Fprintf(c, format+"\r\n", args...) }
	say("220 mail.example.org ESMTP")
	known := m.user == ""
	from, to := "", ""
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		m.mu.Lock()
		m.said = append(m.said, line)
		m.mu.Unlock()
		word, rest, _ := strings.Cut(line, " ")
		word = strings.ToUpper(word)
		if word == m.drops {
			return
		}
		if word == m.refuses {
			say("550 refused")
			continue
		}
		switch word {
		case "EHLO":
			say("250-mail.example.org")
			if m.tls != nil && !safe {
				say("250-STARTTLS")
			}
			if m.user != "" && safe {
				say("250-AUTH PLAIN")
			}
			say("250 8BITMIME")
		case "STARTTLS":
			if m.tls == nil {
				say("502 unknown")
				continue
			}
			say("220 go ahead")
			s := tls.Server(c, m.tls)
			if s.Handshake() != nil {
				return
			}
			c, in, safe = s, bufio.NewReader(s), true
		case "AUTH":
			given, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(rest, "PLAIN "))
			if known = safe && err == nil && string(given) == "\x00"+m.user+"\x00"+m.password; !known {
				say("535 authentication failed")
				continue
			}
			say("235 welcome")
		case "MAIL", "RCPT":
			if !known {
				say("530 authentication required")
				continue
			}
			if word == "MAIL" {
				from = rest
			} else {
				to = rest
			}
			say("250 ok")
		case "DATA":
			say("354 go on")
			var text strings.Builder
			for {
				l, err := in.ReadString('\n')
				if err != nil {
					return
				}
				if l == ".\r\n" {
					break
				}
				text.WriteString(l)
			}
			m.mu.Lock()
			m.mails = append(m.mails, from+"\n"+to+"\n"+text.String())
			m.mu.Unlock()
			if m.drops == "." {
				return // accepted, and nobody is told
			}
			say("250 accepted")
		case "RSET", "NOOP":
			say("250 ok")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("502 unknown")
		}
	}
}

func (m *mailServer) received() (mails, said []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.mails...), append([]string(nil), m.said...)
}
