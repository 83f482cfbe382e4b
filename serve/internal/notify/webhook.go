package notify

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// format names the JSON that a webhook is sent.
const format = "discreet/notice/v1"

// Webhook takes messages by HTTP POST, as JSON, and answers 2xx.
type Webhook struct {
	// URL is of https, or of http on loopback.
	URL string
	// Token is a file with a bearer token; empty for none.
	Token string
	// Roots are the authorities of the other side.
	Roots *x509.CertPool
}

// posted is the body of a request.
type posted struct {
	Format  string   `json:"format"`
	ID      string   `json:"id,omitempty"`
	Dataset string   `json:"dataset,omitempty"`
	Kinds   []string `json:"kinds"`
	Link    string   `json:"link,omitempty"`
	Again   bool     `json:"again"`
}

// Send posts a message.
func (w Webhook) Send(ctx context.Context, m Message) error {
	return w.post(ctx, posted{format, m.ID, m.Dataset, m.Kinds, m.Link, m.Again})
}

// Test posts a message of kind test, of no dataset.
func (w Webhook) Test(ctx context.Context) error {
	return w.post(ctx, posted{Format: format, Kinds: []string{"test"}})
}

func (w Webhook) post(ctx context.Context, p posted) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "discreet")
	if w.Token != "" {
		token, err := secret(w.Token)
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+token)
	}
	to := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: tlsTo("", w.Roots), ForceAttemptHTTP2: true,
		DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: 16 << 10,
	}
	c := http.Client{Transport: to, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := c.Do(r)
	if about, ok := errors.AsType[*url.Error](err); ok {
		return about.Err // without the URL, which may be a secret
	}
	if err != nil {
		return err
	}
	_ = answer.Body.Close() // unread: it says nothing that is needed
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("the webhook answers %d; want 2xx, and no redirect", answer.StatusCode)
	}
	return nil
}
