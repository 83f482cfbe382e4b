package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// remote is a service that is asked for the caller.
type remote struct {
	server, tokenFile string
	// ca holds the authorities of the service, the system's if empty; cert and key are the
	// caller's certificate.
	ca, cert, key string
}

// Where a token is looked for.
const tokenVariable = "DISCREET_TOKEN"

func newRemote() *cobra.Command {
	var r remote
	cmd := family("remote", "Plan and ask at a curator's service", `Plan and ask at a curator's service (discreet serve). A question is the file of an
evaluation without the steward's part: no data, problem, ledger or output.
The token is that of the environment variable DISCREET_TOKEN, or of a file that
nobody else may read (--token-file). In its place --cert and --key show a certificate.`,
		r.datasets(), r.plan(), r.ask(), r.asks(), r.watch(), r.release(), r.budget(), r.policy(),
		r.decide(), r.setShare(), r.notices(), r.clear(), r.audit())
	cmd.PersistentFlags().StringVar(&r.server, "server", "http://127.0.0.1:8420", "address of the service")
	cmd.PersistentFlags().StringVar(&r.tokenFile, "token-file", "", "file with the bearer token, mode 0600")
	cmd.PersistentFlags().StringVar(&r.ca, "ca", "", "PEM file of the authorities of the service's certificate, in place of the system's")
	cmd.PersistentFlags().StringVar(&r.cert, "cert", "", "PEM file of your certificate, shown in place of a token")
	cmd.PersistentFlags().StringVar(&r.key, "key", "", "PEM file of its key, mode 0600")
	return cmd
}

// token finds the caller's.
func (r *remote) token() (string, error) {
	if r.tokenFile == "" {
		if t := os.Getenv(tokenVariable); t != "" {
			return t, nil
		}
		return "", usage(fmt.Errorf("remote: no token; set %s, or name a file with --token-file", tokenVariable))
	}
	if err := own(r.tokenFile); err != nil {
		return "", err
	}
	text, err := readNamed(r.tokenFile)
	return strings.TrimSpace(string(text)), err
}

// own refuses a secret that others can read.
func own(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return usage(err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return usage(fmt.Errorf("remote: %s can be read by others (mode %v); chmod 600 it", path, info.Mode().Perm()))
	}
	return nil
}

// bearing presents a token with every request.
type bearing struct {
	token string
	next  http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (b bearing) RoundTrip(q *http.Request) (*http.Response, error) {
	q = q.Clone(q.Context())
	q.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(q)
}

// transport knows the service by its authorities, and presents who calls.
func (r *remote) transport() (http.RoundTripper, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if r.ca != "" {
		text, err := readNamed(r.ca)
		if err != nil {
			return nil, err
		}
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(text) {
			return nil, usage(fmt.Errorf("remote: --ca %s has no certificate; want PEM", r.ca))
		}
	}
	if r.cert == "" {
		token, err := r.token()
		return bearing{token, t}, err
	}
	if err := own(r.key); err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(r.cert, r.key)
	if err != nil {
		return nil, usage(fmt.Errorf("remote: --cert and --key: %w", err))
	}
	t.TLSClientConfig.Certificates = []tls.Certificate{pair}
	return t, nil
}

// services are what the caller may speak to.
type services struct {
	curatorv1.CuratorServiceClient
	steward curatorv1.StewardServiceClient
}

// dial checks the address and presents the token.
func (r *remote) dial() (services, error) {
	u, err := url.Parse(r.server)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return services{}, usage(fmt.Errorf("remote: --server is %q; want an address such as https://curator.example", r.server))
	}
	if host := u.Hostname(); u.Scheme == "http" && host != "127.0.0.1" && host != "::1" && host != "localhost" {
		return services{}, usage(fmt.Errorf("remote: --server is %q: a token would cross the network in the clear; use https", r.server))
	}
	switch {
	case (r.cert == "") != (r.key == ""):
		return services{}, usage(errors.New("remote: --cert and --key go together"))
	case r.cert != "" && r.tokenFile != "":
		return services{}, usage(errors.New("remote: --cert and --token-file are two ways to say who you are; want one"))
	case u.Scheme == "http" && (r.ca != "" || r.cert != ""):
		return services{}, usage(fmt.Errorf("remote: --ca and --cert need https, and --server is %q", r.server))
	}
	t, err := r.transport()
	if err != nil {
		return services{}, err
	}
	// A redirect could carry the token elsewhere.
	h := &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	server := strings.TrimSuffix(r.server, "/")
	return services{curatorv1.NewCuratorServiceClient(h, server), curatorv1.NewStewardServiceClient(h, server)}, nil
}

// answered is an error in the service's own words, with the class that the exit code goes by.
func answered(err error) error {
	var e *connect.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() {
	case connect.CodeUnauthenticated:
		return usage(errors.New("the service knows nobody by this token or certificate: it was revoked, has expired, is another service's, or its person is not in people; the steward makes a token with discreet serve token create"))
	case connect.CodeResourceExhausted:
		return classed{errors.New(e.Message()), fault.RefusedFault}
	case connect.CodeInvalidArgument, connect.CodeNotFound, connect.CodePermissionDenied, connect.CodeAlreadyExists, connect.CodeFailedPrecondition:
		return usage(errors.New(e.Message()))
	}
	return err
}

// verb is a command that asks the service.
func (r *remote) verb(use, short string, arguments int, what string, run func(context.Context, io.Writer, services, []string) error) *cobra.Command {
	return command(use, short, "", exactly(arguments, what), func(cmd *cobra.Command, args []string) error {
		s, err := r.dial()
		if err != nil {
			return err
		}
		return answered(run(cmd.Context(), cmd.OutOrStdout(), s, args))
	})
}

func (r *remote) datasets() *cobra.Command {
	return r.verb("datasets", "List the datasets that you have a role for", 0, "none", func(ctx context.Context, w io.Writer, c services, _ []string) error {
		all, err := c.ListDatasets(ctx, &curatorv1.ListDatasetsRequest{})
		if err != nil {
			return err
		}
		for _, d := range all.GetDatasets() {
			fmt.Fprintf(w, "%-16s %-8s %s\n", d.GetName(), d.GetRole(), printable(d.GetTitle()))
			fmt.Fprintf(w, "                 %s, %s; approval: %s; published: %s", d.GetUnit(), d.GetAdjacency(), d.GetApproval(), d.GetPublish())
			if e := d.GetLargestEpsilon(); e > 0 {
				fmt.Fprintf(w, "; at most epsilon %g an ask", e)
			}
			if m := d.GetMethods(); len(m) > 0 {
				fmt.Fprintf(w, "; methods: %s", strings.Join(m, ", "))
			}
			fmt.Fprintln(w)
		}
		return nil
	})
}

func (r *remote) plan() *cobra.Command {
	return r.verb("plan DATASET QUESTION.yaml", "Cost and expected error of a question", 2, "a dataset and a question", func(ctx context.Context, w io.Writer, c services, args []string) error {
		text, err := readNamed(args[1])
		if err != nil {
			return err
		}
		p, err := c.Plan(ctx, &curatorv1.PlanRequest{Dataset: args[0], Question: string(text)})
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "method    %s\naccounted epsilon at most %g at delta %g\n", p.GetMethod(), p.GetEpsilon(), p.GetDelta())
		for _, a := range p.GetAnswers() {
			fmt.Fprintln(w, aboutAnswer(a.GetName(), a.GetStdPrivacy(), a.GetStdSampling(), a.GetHalfWidth(), cmp.Or(a.GetInterval(), "joint"), a.GetCountsMissing()))
		}
		if p.GetHalfWidth() > 0 {
			fmt.Fprintf(w, "expected  privacy error %.3g;%s half width of the interval about %.3g, of an answer without data %.3g\n", p.GetStdPrivacy(), samplingAbout(p.GetStdSampling()), p.GetHalfWidth(), p.GetConstant())
		}
		if p.GetRmse() > 0 {
			fmt.Fprintf(w, "expected  root mean squared privacy error %.3g over states\n", p.GetRmse())
		}
		if p.GetNoAnswer() {
			fmt.Fprintln(w, alarm(w, "expected  NO ANSWER: the error is about as large as that of an answer chosen without data"))
		}
		printNotes(w, p.GetNotes())
		switch {
		case !p.GetFits():
			fmt.Fprintf(w, "budget    %s\n", alarm(w, "this ask would be refused: "+printable(p.GetRefusal())))
		case p.GetNeedsApproval():
			fmt.Fprintln(w, "budget    it fits what is left; a steward has to approve it")
		default:
			fmt.Fprintln(w, "budget    it fits what is left")
		}
		return nil
	})
}

func (r *remote) ask() *cobra.Command {
	var purpose, key, output string
	var wait bool
	cmd := r.verb("ask DATASET QUESTION.yaml", "Ask; the answer is charged once, however often the command is given with its key", 2, "a dataset and a question", func(ctx context.Context, w io.Writer, c services, args []string) error {
		text, err := readNamed(args[1])
		if err != nil {
			return err
		}
		key := cmp.Or(key, ledger.NewKey())
		a, err := c.Ask(ctx, &curatorv1.AskRequest{Dataset: args[0], Question: string(text), Purpose: purpose, Key: key})
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "ask       %s\nkey       %s\n", a.GetAsk().GetId(), key)
		if !wait && output == "" {
			tellAsk(w, a.GetAsk())
			return nil
		}
		fmt.Fprintf(w, "          this waits for the end; it may be stopped, and discreet remote release %s -o FILE fetches the release later\n", a.GetAsk().GetId())
		if err := watchAsk(ctx, w, c, a.GetAsk().GetId()); err != nil {
			return err
		}
		return writeRelease(ctx, w, c, a.GetAsk().GetId(), output)
	})
	cmd.Flags().StringVar(&purpose, "purpose", "", "what the answer is for; the steward reads it, and the ledger keeps it")
	cmd.Flags().StringVar(&key, "key", "", "idempotency key of 16 to 64 letters, digits and hyphens; the same key is charged once")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until the ask has ended, and print the release")
	cmd.Flags().StringVarP(&output, "output", "o", "", "wait, and write the release to this file, a new one")
	return cmd
}

func (r *remote) asks() *cobra.Command {
	return r.verb("asks DATASET", "List your asks, or as a steward or auditor everybody's, newest first", 1, "a dataset", func(ctx context.Context, w io.Writer, c services, args []string) error {
		q := &curatorv1.ListAsksRequest{Dataset: args[0], PageSize: 100}
		for {
			list, err := c.ListAsks(ctx, q)
			if err != nil {
				return err
			}
			for _, a := range list.GetAsks() {
				fmt.Fprintf(w, "%s  %-9s  %s  %s  epsilon %g, delta %g  %s\n", a.GetId(), stateName(a.GetState()), a.GetAsked().AsTime().Format(time.RFC3339), a.GetAnalyst(), a.GetEpsilon(), a.GetDelta(), printable(a.GetPurpose()))
				if a.GetState() == curatorv1.State_STATE_WAITING {
					if err := tellQuestion(w, a); err != nil {
						fmt.Fprintf(w, "          its question cannot be read: %s\n", printable(err.Error()))
					}
				}
			}
			if q.PageToken = list.GetNextPageToken(); q.PageToken == "" {
				return nil
			}
		}
	})
}

func (r *remote) watch() *cobra.Command {
	return r.verb("watch ASK", "Wait until an ask has ended", 1, "the id of an ask", func(ctx context.Context, w io.Writer, c services, args []string) error {
		if err := watchAsk(ctx, w, c, args[0]); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "          discreet remote release %s -o FILE fetches it\n", args[0])
		return err
	})
}

// errNoRelease marks an ask that ended without one.
var errNoRelease = fault.Refused("the ask has no release")

// watchAsk follows an ask until it is released, over streams that the service ends now and then.
func watchAsk(ctx context.Context, w io.Writer, c services, id string) error {
	seen := curatorv1.State_STATE_UNSPECIFIED
	for {
		stream, err := c.WatchAsk(ctx, &curatorv1.WatchAskRequest{Id: id})
		if err != nil {
			return err
		}
		for stream.Receive() {
			a := stream.Msg().GetAsk()
			if a.GetState() != seen {
				tellAsk(w, a)
				seen = a.GetState()
			}
			if a.GetEnded() == nil {
				continue
			}
			if err := stream.Close(); err != nil {
				return err
			}
			if a.GetState() != curatorv1.State_STATE_RELEASED {
				return fmt.Errorf("%w: %s", errNoRelease, stateName(a.GetState()))
			}
			return nil
		}
		if err := stream.Err(); err != nil {
			return err
		}
	}
}

func stateName(s curatorv1.State) string {
	return strings.ToLower(strings.TrimPrefix(s.String(), "STATE_"))
}

func tellAsk(w io.Writer, a *curatorv1.AskState) {
	fmt.Fprintf(w, "%-9s %s", stateName(a.GetState()), a.GetAsked().AsTime().Format(time.RFC3339))
	if a.GetReason() != "" {
		fmt.Fprintf(w, "  %s", printable(a.GetReason()))
	}
	fmt.Fprintln(w)
}

func (r *remote) release() *cobra.Command {
	var output string
	cmd := r.verb("release ASK", "Fetch the release of an ask, and check it", 1, "the id of an ask", func(ctx context.Context, w io.Writer, c services, args []string) error {
		a, err := c.GetAsk(ctx, &curatorv1.GetAskRequest{Id: args[0]})
		if err != nil {
			return err
		}
		if a.GetAsk().GetEnded() == nil {
			return usage(fmt.Errorf("remote release: the ask has not ended, it is %s; discreet remote watch %s waits for it", stateName(a.GetAsk().GetState()), args[0]))
		}
		return writeRelease(ctx, w, c, args[0], output)
	})
	cmd.Flags().StringVarP(&output, "output", "o", "", "the file to write, a new one; without it the release is printed")
	return cmd
}

func writeRelease(ctx context.Context, w io.Writer, c services, id, output string) error {
	v, err := c.VerifyRelease(ctx, &curatorv1.VerifyReleaseRequest{Id: id})
	if err != nil {
		return err
	}
	if !v.GetHolds() {
		return fmt.Errorf("the release does not hold: %s", strings.Join(v.GetFindings(), "; "))
	}
	r, err := c.GetRelease(ctx, &curatorv1.GetReleaseRequest{Id: id})
	if err != nil {
		return err
	}
	if output == "" {
		_, err := w.Write(r.GetRelease())
		return err
	}
	if err := writeNew(output, 0o644, r.GetRelease()); err != nil {
		return err
	}
	fmt.Fprintf(w, "written   %s\n          discreet report %s -o %s shows it\n", output, output, strings.TrimSuffix(output, filepath.Ext(output))+".html")
	return nil
}

func (r *remote) budget() *cobra.Command {
	return r.verb("budget DATASET", "What is spent of the budget", 1, "a dataset", func(ctx context.Context, w io.Writer, c services, args []string) error {
		b, err := c.GetBudget(ctx, &curatorv1.GetBudgetRequest{Dataset: args[0]})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "spent     epsilon %.4g, delta %.4g of %g, %g\n", b.GetSpent().GetEpsilon(), b.GetSpent().GetDelta(), b.GetBudget().GetEpsilon(), b.GetBudget().GetDelta())
		return err
	})
}

func (r *remote) policy() *cobra.Command {
	return r.verb("policy DATASET FILE", "Upload a policy; questions name it by its file name", 2, "a dataset and a file", func(ctx context.Context, w io.Writer, c services, args []string) error {
		content, err := readNamed(args[1])
		if err != nil {
			return err
		}
		name := filepath.Base(args[1])
		p, err := c.PutPolicy(ctx, &curatorv1.PutPolicyRequest{Dataset: args[0], Name: name, Content: content})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "policy    %s, SHA-256 %s; in a question: path: %s\n", name, p.GetSha256(), name)
		return err
	})
}
