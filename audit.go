package discreet

import (
	"context"
	"encoding/json"
	"io"

	"github.com/discreet-rl/discreet/config"
	dpaudit "github.com/discreet-rl/discreet/dp/audit"
	"github.com/discreet-rl/discreet/internal/audit"
	"github.com/discreet-rl/discreet/internal/report"
)

// AuditOptions are those of [Audit] and [AuditTraining].
type AuditOptions struct {
	// Seed makes another audit; the same one gets the same answer.
	Seed uint64
	// OneRun has many canaries report in one run as well; of training alone.
	OneRun bool
	// Runs of the plan on each of two neighbouring datasets; 0 for as many as are expected to
	// show 93% of the mu that is claimed, at most 400,000. Of training, reports on each of two vectors; 0 for 20,000.
	Runs int
	// Progress is called before each part of the audit; nil for none.
	Progress func(part string)
}

// AuditReport is what an audit found. Nothing in it depends on anybody's data.
type AuditReport struct {
	// Claim is what is audited, and Found the lower bound that runs showed; nil where none could.
	Claim dpaudit.Claim
	Found *dpaudit.Found
	// Broken lists what refutes the claim; it is empty where the claim stands.
	Broken []string
	// Missed names planted mistakes that the audit did not find, and Missing what it did not
	// look at: of either it says nothing.
	Missed, Missing []string
	// JSON is the whole report: the object that `discreet audit --json` prints, indented there.
	JSON []byte

	page report.Audit
}

// WritePage draws the report as one self-contained HTML page. Of names what was audited, such as
// the file of the configuration.
func (r *AuditReport) WritePage(w io.Writer, of string) error {
	page := r.page
	page.Of = of
	return report.WriteAudit(w, page)
}

// Audit holds what an evaluation does against what its plan claims, without the data: on
// neighbouring datasets that are made up from public facts. It opens no data and no ledger, and
// releases nothing. What refutes the claim is in the report, not in the error.
func Audit(ctx context.Context, c config.Config, o AuditOptions) (*AuditReport, error) {
	r, err := audit.Plan(ctx, c, audit.Options(o))
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(r)
	return &AuditReport{Claim: r.Claim, Found: r.Found, Broken: r.Broken, Missed: r.Missed, Missing: r.Missing, JSON: text, page: report.Audit{Report: r}}, err
}

// AuditTraining holds the reports of a training run against what each of them costs its agent. No
// agent takes part, nothing is sent and no wallet is opened.
func AuditTraining(ctx context.Context, t Training, o AuditOptions) (*AuditReport, error) {
	c, err := t.Config()
	if err != nil {
		return nil, err
	}
	r, err := audit.Training(ctx, c, audit.Options(o))
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(r)
	return &AuditReport{Claim: r.Claim, Found: &r.Found, Broken: r.Broken, Missed: r.Missed, Missing: r.Missing, JSON: text, page: report.Audit{Training: r}}, err
}
