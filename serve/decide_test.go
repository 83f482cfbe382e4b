package serve_test

import (
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// An ask above the steward's epsilon waits, and is answered, refused or withdrawn.
func TestAStewardDecides(t *testing.T) {
	h := opened(t, "approval: above 0.2")
	small := h.ask("ann", oneKey+"-1", wish(0.2))
	if a := h.end("ann", small); a.GetState() != curatorv1.State_STATE_RELEASED {
		t.Errorf("a small ask: %v", a)
	}
	yes, no, back := h.ask("ann", oneKey+"-2", wish(0.3)), h.ask("ann", oneKey+"-3", wish(0.3)), h.ask("ann", oneKey+"-4", wish(0.3))
	for _, id := range []string{yes, no, back} {
		if a := h.state("ann", id); a.GetState() != curatorv1.State_STATE_WAITING {
			t.Errorf("%v; want it waiting", a)
		}
	}
	decide := func(id string, approve bool, reason string) error {
		_, err := h.steward().Decide(t.Context(), &curatorv1.DecideRequest{Id: id, Approve: approve, Reason: reason})
		return err
	}
	if err := decide(no, false, ""); code(err) != connect.CodeInvalidArgument {
		t.Errorf("a refusal without a reason: %v", err)
	}
	for _, err := range []error{decide(no, false, "out of scope"), decide(yes, true, "")} {
		if err != nil {
			t.Error(err)
		}
	}
	if err := decide(no, true, ""); code(err) != connect.CodeFailedPrecondition {
		t.Errorf("decided twice: %v", err)
	}
	if _, err := h.client("ann").WithdrawAsk(t.Context(), &curatorv1.WithdrawAskRequest{Id: back}); err != nil {
		t.Error(err)
	}
	if a := h.end("ann", yes); a.GetState() != curatorv1.State_STATE_RELEASED {
		t.Errorf("approved: %v", a)
	}
	if a := h.state("ann", no); a.GetState() != curatorv1.State_STATE_REFUSED || !strings.Contains(a.GetReason(), "out of scope") {
		t.Errorf("refused: %v", a)
	}
	if a := h.state("ann", back); a.GetState() != curatorv1.State_STATE_WITHDRAWN {
		t.Errorf("withdrawn: %v", a)
	}
	if all, pending := h.charges(); all != 2 || pending != 0 {
		t.Errorf("%d charges, %d pending; want 2, 0", all, pending)
	}
}
