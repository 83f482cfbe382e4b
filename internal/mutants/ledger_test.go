//go:build slow

package mutants

// ledgerMutants are faults on the way from a plan to a recorded, signed release.
func ledgerMutants() []mutant {
	const (
		scripts = "TestScripts/ledger"
		paths   = "EveryMethodsRelease|Concurrent|ARetry|ACancelled|ErrorsBefore|TheHash|Copies|Interrupt"
	)
	return []mutant{
		{"wiring: the data are not fingerprinted", "charge.go",
			[][2]string{{"j.charge(plan.Event, fingerprint)", "j.charge(plan.Event, fingerprint[:0])"}}, ".", paths},
		{"wiring: fingerprint in the order of names", "fingerprint.go",
			[][2]string{{"slices.SortFunc(digests, bytes.Compare)", ""}}, ".", paths},
		{"wiring: fingerprint of the names too", "fingerprint.go",
			[][2]string{{"h := sha256.New()", "h := sha256.New()\n\th.Write([]byte(path))"}}, ".", paths},
		{"wiring: every question has one hash", "charge.go",
			[][2]string{{"ConfigHash: j.hash,", "ConfigHash: \"x\","}}, ".", paths},
		{"wiring: another adjacency is charged", "charge.go",
			[][2]string{{"Adjacency: j.public.Privacy.Adjacency,", "Adjacency: dp.AddRemoveOne,"}}, ".", paths},
		{"wiring: the release is not recorded", "discreet.go",
			[][2]string{{"if l != nil {\n\t\t// The noise", "if false {\n\t\t// The noise"}}, ".", paths},
		{"wiring: other bytes are recorded than shown", "discreet.go",
			[][2]string{{"&Result{Release: release, JSON: text}, nil", "&Result{Release: release, JSON: text[:len(text)-1]}, nil"}}, ".", paths},
		{"wiring: an interrupt loses the release", "discreet.go",
			[][2]string{{"context.WithoutCancel(ctx), grant.Receipt", "ctx, grant.Receipt"}}, ".", paths},
		{"wiring: a retry reads the data", "discreet.go",
			[][2]string{{"if err := j.recorded(ctx, l); err != nil {\n\t\treturn nil, err\n\t}", ""}}, ".", paths},
		{"wiring: a charge without a release is not told", "discreet.go",
			[][2]string{{"return nil, pending(grant, err)", "return nil, err"}}, ".", paths},
		{"wiring: the key that signs is read after the charge", "discreet.go",
			[][2]string{{"if err := j.loadSigner(); err != nil {\n\t\treturn nil, err\n\t}", ""}}, ".", paths},
		{"wiring: shares swapped", "charge.go",
			[][2]string{{"Before: clamp(before), This: clamp(this)", "Before: clamp(this), This: clamp(before)"}}, ".", paths},
		{"wiring: a used-up budget opens the data", "discreet.go",
			[][2]string{{"if err := j.fits(ctx, l); err != nil {\n\t\treturn nil, err\n\t}", ""}}, "./internal/cli", scripts},
		{"wiring: a failure after the charge exits as before it", "charge.go",
			[][2]string{{"func (e *PendingError) Fault() fault.Class { return fault.Failure }", "var _ = fault.Failure"}}, "./internal/cli", "ExitCodes"},
		{"verify: the signature is not checked", "verify.go",
			[][2]string{{"if err := signature.Verify(release, signer); err != nil {", "if err := error(nil); err != nil {"}}, ".", "Verify"},
		{"verify: the accounting is not checked", "verify.go",
			[][2]string{{"b, err := s.Certify()\n\tif err != nil {", "b, err := s.Certify()\n\tif err != nil && false {"}}, ".", "Verify"},
		{"signature: any 64 bytes do", "internal/signature/signature.go",
			[][2]string{{"if !ed25519.Verify(key, signed, value) {", "if _ = signed; len(value) != 64 {"}}, "./internal/signature", "Signature|Wrong"},
		{"signature: a key that others can read", "internal/signature/key.go",
			[][2]string{{"mode&0o077 != 0", "mode&0o777 == 0"}}, "./internal/signature", "Key"},
		{"jcs: members may be repeated", "internal/jcs/jcs.go",
			[][2]string{{"if i > 0 && m.name == members[i-1].name {", "if i < 0 {"}}, "./internal/jcs", "Canonical"},
		{"jcs: what is too small is 0", "internal/jcs/jcs.go",
			[][2]string{{"x == 0 && !isZero(text)", "x != x && !isZero(text)"}}, "./internal/jcs", "Canonical"},
		{"cli: a file is written over", "internal/atomicfile/atomicfile.go",
			[][2]string{{"Err: fs.ErrExist}\n\t}\n\treturn through(path, mode, write, move)", "Err: fs.ErrExist}\n\t}\n\treturn through(path, mode, write, os.Rename)"}}, "./internal/atomicfile", "Create"},
		{"cli: the largest release is that of the whole budget", "internal/cli/ledgerinit.go",
			[][2]string{{"account.GaussianEpsilon(a.Mu, delta)", "account.GaussianEpsilon(2*a.Mu, delta)"}}, "./internal/cli", scripts},
		{"report: a bare claim is a charge", "report/ledger.go",
			[][2]string{{"r.Privacy.Charged && r.Ledger != nil", "r.Privacy.Charged"}}, "./report", "Claim"},
	}
}
