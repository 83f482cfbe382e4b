package serve

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/serve/curatorv1"
	"github.com/discreet-rl/discreet/serve/internal/asks"
	"github.com/discreet-rl/discreet/serve/internal/tokens"
)

// personRole is the role of any authenticated caller: what a person may do depends on the
// dataset.
const personRole = "person"

// operatorRole is that of a certificate which may read the metrics, and nothing else.
const operatorRole = "operator"

// everyone may use a call of any dataset that they have a role for.
var everyone = []Role{roleAnalyst, roleSteward, roleAuditor}

// permissions say, of each call, which roles of the dataset may use it. A call that is not
// listed is nobody's.
var permissions = map[string][]Role{
	curatorv1.CuratorServiceListDatasetsProcedure:  everyone,
	curatorv1.CuratorServiceGetDatasetProcedure:    everyone,
	curatorv1.CuratorServicePlanProcedure:          {roleAnalyst, roleSteward},
	curatorv1.CuratorServiceAskProcedure:           {roleAnalyst},
	curatorv1.CuratorServiceGetAskProcedure:        everyone,
	curatorv1.CuratorServiceWatchAskProcedure:      everyone,
	curatorv1.CuratorServiceListAsksProcedure:      everyone,
	curatorv1.CuratorServiceWithdrawAskProcedure:   {roleAnalyst},
	curatorv1.CuratorServiceGetReleaseProcedure:    everyone,
	curatorv1.CuratorServiceVerifyReleaseProcedure: everyone,
	curatorv1.CuratorServiceGetBudgetProcedure:     everyone,
	curatorv1.CuratorServicePutPolicyProcedure:     {roleAnalyst},
	curatorv1.StewardServiceDecideProcedure:        {roleSteward},
	curatorv1.StewardServiceSetShareProcedure:      {roleSteward},
	curatorv1.StewardServiceSetBudgetProcedure:     {roleSteward},
	curatorv1.StewardServiceListNoticesProcedure:   {roleSteward},
	curatorv1.StewardServiceClearChecksProcedure:   {roleSteward},
	curatorv1.StewardServiceListAuditProcedure:     {roleSteward, roleAuditor},
}

// Errors that a caller may see. What exists and is not the caller's does not exist.
var (
	errNotFound  = errors.New("there is no such dataset or ask, or it is not yours")
	errForbidden = errors.New("your role for this dataset does not allow that")
)

// caller is who calls, and with what role for a dataset.
type caller struct {
	name string
	role Role
	*dataset
	by asks.By
}

// enter tells the caller's role for a dataset, and whether it allows the procedure. What is
// refused stands in the audit log before the caller learns of it.
func (s *Service) enter(ctx context.Context, procedure, dataset string) (*caller, error) {
	who, err := s.admit(ctx, procedure, dataset)
	if err != nil {
		return nil, s.noteRefused(ctx, procedure, dataset, "", err)
	}
	return who, nil
}

// admit is enter, for who goes through all datasets.
func (s *Service) admit(ctx context.Context, procedure, dataset string) (*caller, error) {
	id, known := service.IdentityOf(ctx)
	d := s.datasets[dataset]
	if !known || d == nil || d.People[id.Name] == "" {
		return nil, connect.NewError(connect.CodeNotFound, errNotFound)
	}
	role := d.People[id.Name]
	if !slices.Contains(permissions[procedure], role) {
		return nil, connect.NewError(connect.CodePermissionDenied, errForbidden)
	}
	return &caller{name: id.Name, role: role, dataset: d, by: asks.By{Who: id.Name, Address: addressOf(ctx)}}, nil
}

// idForm is that of an ask's id. Stores differ in what else they would look for.
var idForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f-]{36}$`) })

// enterAsk is enter for the dataset of an ask: an analyst's own, or any for others.
func (s *Service) enterAsk(ctx context.Context, procedure, id string) (*caller, *asks.Ask, error) {
	none := connect.NewError(connect.CodeNotFound, errNotFound)
	if !idForm().MatchString(id) {
		return nil, nil, s.noteRefused(ctx, procedure, "", "", none)
	}
	a, err := s.store.Get(ctx, id)
	if errors.Is(err, asks.ErrNone) {
		return nil, nil, s.noteRefused(ctx, procedure, "", "", none)
	}
	if err != nil {
		return nil, nil, s.broken(err)
	}
	who, err := s.admit(ctx, procedure, a.Dataset)
	// Whose it is comes first: what a role allows would tell that there is such an ask.
	if id, known := service.IdentityOf(ctx); known && s.datasets[a.Dataset] != nil && s.datasets[a.Dataset].People[id.Name] == roleAnalyst && a.Analyst != id.Name {
		err = none
	}
	if err != nil {
		return nil, nil, s.noteRefused(ctx, procedure, a.Dataset, a.ID, err)
	}
	return who, a, nil
}

// identify tells who asks: by a bearer token, this service's or the issuer's, or by a
// certificate.
func (s *Service) identify(r *http.Request) (service.Identity, error) {
	presented, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		id, err := service.FromCertificate(r)
		if err != nil || !nameForm().MatchString(id.Name) || id.Role != operatorRole && (id.Role != personRole || !s.config.knows(id.Name)) {
			return service.Identity{}, service.ErrAnonymous
		}
		return id, nil
	}
	if s.issuer != nil && !strings.HasPrefix(presented, tokens.Prefix) {
		person, err := s.issuer.person(r.Context(), presented)
		if err != nil || !s.config.knows(person) {
			return service.Identity{}, service.ErrAnonymous
		}
		return service.Identity{Role: personRole, Name: person}, nil
	}
	person, known, err := s.tokens.Person(presented)
	if err != nil {
		s.log.Error("the tokens cannot be read; nobody is let in", "error", err)
		return service.Identity{}, service.ErrAway
	}
	if !known || !s.config.knows(person) {
		return service.Identity{}, service.ErrAnonymous
	}
	return service.Identity{Role: personRole, Name: person}, nil
}

type addressKey struct{}

// addressed notes where a request comes from, for the audit log.
func addressed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), addressKey{}, r.RemoteAddr)))
	})
}

func addressOf(ctx context.Context) string {
	a, _ := ctx.Value(addressKey{}).(string)
	return a
}
