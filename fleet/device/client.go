package device

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
)

// Services are those of an aggregator.
type Services struct {
	Enrol   fleetv1.EnrolServiceClient
	Runs    fleetv1.RunServiceClient
	Reports fleetv1.ReportServiceClient
	// Forget, unless nil, ends idle connections, which know the device by its last certificate.
	Forget func()
}

// The most that an answer may hold: weights of the largest network.
const mostAnswer = 16 << 20

// Dial returns the services at a URL, which begins with https. The server is known by the authorities in roots; the certificate is
// asked for at every connection, and is [Agent.Certificate].
func Dial(address string, roots *x509.CertPool, certificate func() (*tls.Certificate, error)) (Services, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return Services{}, fmt.Errorf("%w: the server is %q; want https://host:port", ErrConfig, address)
	}
	// What was connected without a certificate stays so: enrolment has connections of its own.
	anonymous, _ := connectTo(roots, nil)
	identified, forget := connectTo(roots, func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return certificate() })
	limit := connect.WithReadMaxBytes(mostAnswer)
	return Services{
		Enrol: enrolment{
			EnrolServiceClient: fleetv1.NewEnrolServiceClient(identified, u.String(), limit),
			anonymous:          fleetv1.NewEnrolServiceClient(anonymous, u.String(), limit),
		},
		Runs:    fleetv1.NewRunServiceClient(identified, u.String(), limit),
		Reports: fleetv1.NewReportServiceClient(identified, u.String(), limit),
		Forget:  forget,
	}, nil
}

// enrolment enrols without a certificate and renews with one.
type enrolment struct {
	fleetv1.EnrolServiceClient
	anonymous fleetv1.EnrolServiceClient
}

func (e enrolment) Enrol(ctx context.Context, r *fleetv1.EnrolRequest) (*fleetv1.EnrolResponse, error) {
	return e.anonymous.Enrol(ctx, r)
}

// connectTo makes a client, and what ends its idle connections.
func connectTo(roots *x509.CertPool, certificate func(*tls.CertificateRequestInfo) (*tls.Certificate, error)) (client *http.Client, forget func()) {
	t := &http.Transport{
		TLSClientConfig:   &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots, GetClientCertificate: certificate},
		ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 30 * time.Second, ResponseHeaderTimeout: 30 * time.Second,
		DisableKeepAlives: certificate == nil,
	}
	return &http.Client{Transport: t, Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, t.CloseIdleConnections
}

// final tells whether asking again with the same request cannot help.
func final(err error) bool {
	switch connect.CodeOf(err) {
	case connect.CodeInvalidArgument, connect.CodeNotFound, connect.CodeUnimplemented, connect.CodeFailedPrecondition, connect.CodeOutOfRange:
		return true
	}
	return false
}

// retryAfter is what the server asked to wait for; 0 where it said nothing.
func retryAfter(err error) time.Duration {
	var e *connect.Error
	if !errors.As(err, &e) {
		return 0
	}
	seconds, bad := strconv.ParseUint(e.Meta().Get("Retry-After"), 10, 16)
	if bad != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// backOff is how long to wait after the n-th failure, counted from 0: uniform up to base times 2^n, at most the longest
// (full jitter), and no less than the server asked for.
func backOff(n int, base, longest time.Duration, err error) time.Duration {
	most := longest
	if n < 32 && base<<n>>n == base {
		most = min(longest, base<<n)
	}
	return max(uniform(most), retryAfter(err))
}

// uniform is a duration from 0 to d, from the operating system's randomness.
func uniform(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	n, err := rand.Int(rand.Reader, big.NewInt(int64(d)))
	if err != nil {
		return d // it ends the process rather than fail
	}
	return time.Duration(n.Int64())
}

// coin falls with probability p.
func coin(p float64) bool {
	n, err := rand.Int(rand.Reader, big.NewInt(1<<53))
	return err == nil && float64(n.Int64()) < math.Ldexp(p, 53)
}
