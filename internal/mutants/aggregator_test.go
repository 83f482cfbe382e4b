//go:build slow

package mutants

// aggregatorMutants are faults in the server of a fleet, and in what network services share.
func aggregatorMutants() []mutant {
	return []mutant{
		{name: "fleet: a second body passes for the first", in: "internal/fleet/store", run: "OnSQLite",
			edits: edits{{"if bytes.Equal(held, body) {", "if len(held) == len(body) {"}}},
		{name: "fleet: a round that is closing takes reports", in: "internal/fleet/store", run: "OnSQLite",
			edits: edits{{" AND state = 'open'`+tx.Locking(\"FOR SHARE\")", "`+tx.Locking(\"FOR SHARE\")"}}},
		{name: "fleet: an old leader applies a round", in: "internal/fleet/store", run: "OnSQLite",
			edits: edits{{"WHERE id = $1 AND fence = $2`+tx.Locking(\"FOR UPDATE\")", "WHERE id = $1 AND fence >= $2`+tx.Locking(\"FOR UPDATE\")"}}},
		{name: "fleet: two lead at the same time", in: "internal/fleet/store", run: "OnSQLite|TimesAreThose",
			edits: edits{{"AND lease_until < $3 RETURNING", "AND lease_until <> $3 RETURNING"}}},
		{name: "fleet: a round is applied twice", in: "internal/fleet/store", run: "OnSQLite",
			edits: edits{{"digest = $6 WHERE run = $1 AND id = $2 AND state = 'closing'", "digest = $6 WHERE run = $1 AND id = $2"}}},
		{name: "fleet: a device reads the operator's page", in: "internal/fleet/aggregator", run: "WhoMayCallWhat|ThePageTells",
			edits: edits{{"service.Access{Roles: []string{RoleOperator}, Rate: perReader}", "service.Access{Roles: []string{RoleOperator, RoleDevice}, Rate: perReader}"}}},
		{name: "fleet: a site whose name stands for loopback reads the page", in: "internal/service", by: "internal/fleet/aggregator", run: "ThePageIsOfThisMachine",
			edits: edits{{`host != "localhost" && !ip.IsLoopback()`, `ip != nil && !ip.IsLoopback()`}}},
		{name: "fleet: a revoked device renews", in: "internal/fleet/store", run: "OnSQLite",
			edits: edits{{"if revoked > 0 {", "if revoked > 99 {"}}},
		{name: "fleet: a code is good for two devices", in: "internal/fleet/store", run: "OnSQLite",
			edits: edits{{"case before != nil && !bytes.Equal(before, key[:]):", "case before != nil && bytes.Equal(before, nil):"}}},
		{name: "fleet: late reports are taken", in: "internal/fleet/store", run: "TimesAreThose",
			edits: edits{{"case now > until+grace.Milliseconds():", "case now > until+1000*grace.Milliseconds():"}}},
		{name: "fleet: a device has one nullifier for all rounds", in: "internal/fleet/aggregator", run: "NullifierIsOfOneRound",
			edits: edits{{"fleet.Nullifier(pseudonym, l.id, round.Number)", "fleet.Nullifier(pseudonym, l.id, 1)"}}},
		{name: "fleet: keys that are not here are announced", in: "internal/fleet/aggregator", run: "KeysAreRotated",
			edits: edits{{"		if !same {", "		if !same && key.ID == 0 {"}}},
		{name: "fleet: intervals hold for one look", in: "internal/fleet/aggregator", run: "SuccessCovers",
			edits: edits{{"(1-Confidence)/float64(looks)", "(1-Confidence)*float64(looks)/float64(looks)"}}},
		{name: "fleet: more evaluations than were announced", in: "internal/fleet/aggregator", run: "EvaluationsAreThose",
			edits: edits{{"if l.settings.Evaluations < n+1+later {", "if l.settings.Evaluations < n+later {"}}},
		{name: "service: every role may use a route", in: "internal/service", run: "WhoMayUseARoute",
			edits: edits{{"!slices.Contains(g.a.Roles, id.Role)", "!slices.Contains(g.a.Roles, id.Role) && id.Role == \"\""}}},
		{name: "service: it listens anywhere without TLS", in: "internal/service", run: "WithoutTLS",
			edits: edits{{"return ip != nil && ip.IsLoopback()", "return ip == nil || ip.IsLoopback() || !ip.IsLoopback()"}}},
		{name: "service: an old list of revocations is good", in: "internal/service", run: "OldListOfRevocations",
			edits: edits{{"age > r.Oldest {", "age > 100*r.Oldest {"}}},
		{name: "service: words of a log are any text", in: "internal/service", run: "ALogSaysNothing",
			edits: edits{{"if kind == Text || kind == Word && word(v.String()) {", "if kind == Text || kind == Word && !word(\"?\") {"}}},
		{name: "authority: a request has wishes", in: "internal/service/authority", run: "RequestsThatAreRefused",
			edits: edits{{"if len(r.Extensions) > 0 {", "if len(r.Extensions) > 1 {"}}},
		{name: "database: another program's schema is taken over", in: "internal/service/database", run: "VersionsAreApplied",
			edits: edits{{"if hash != steps[i].hash {", "if hash == \"\" {"}}},
	}
}
