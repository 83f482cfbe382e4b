package store

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"
)

// silent accepts connections and never answers.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open []net.Conn
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open = append(open, c)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
		for _, c := range open {
			c.Close()
		}
	})
	return l.Addr().String()
}

// The context has no deadline: the store's own has to end it.
func TestSilentServerIsGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		options  string
		patience time.Duration
	}{
		"patience ends":         {"", 100 * time.Millisecond},
		"URL's timeout is less": {"&connect_timeout=1", time.Hour},
		"URL's timeout is more": {"&connect_timeout=3600", 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan error, 1)
			address := silent(t)
			go func() {
				_, err := connectPostgres(context.Background(), "postgres://u:secret@"+address+"/x?sslmode=disable"+c.options, c.patience)
				ended <- err
			}()
			select {
			case err := <-ended:
				if !errors.Is(err, ErrStore) {
					t.Errorf("%v; want ErrStore", err)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("still waiting for a server that says nothing")
			}
		})
	}
}
