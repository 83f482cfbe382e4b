//go:build slow

package mutants

// aggregatorMutants are faults in the server of a fleet, and in what network services share.
func aggregatorMutants() []mutant {
	return []mutant{
		{"fleet: a second body passes for the first", "fleet/internal/store/report.go",
			[][2]string{{"if bytes.Equal(held, body) {", "if len(held) == len(body) {"}}, "./fleet/internal/store", "OnSQLite"},
		{"fleet: a round that is closing takes reports", "fleet/internal/store/report.go",
			[][2]string{{" AND state = 'open'`+tx.Locking(\"FOR SHARE\")", "`+tx.Locking(\"FOR SHARE\")"}}, "./fleet/internal/store", "OnSQLite"},
		{"fleet: an old leader applies a round", "fleet/internal/store/round.go",
			[][2]string{{"WHERE id = $1 AND fence = $2`+tx.Locking(\"FOR UPDATE\")", "WHERE id = $1 AND fence >= $2`+tx.Locking(\"FOR UPDATE\")"}}, "./fleet/internal/store", "OnSQLite"},
		{"fleet: two lead at the same time", "fleet/internal/store/round.go",
			[][2]string{{"AND lease_until < $3 RETURNING", "AND lease_until <> $3 RETURNING"}}, "./fleet/internal/store", "OnSQLite|TimesAreThose"},
		{"fleet: a round is applied twice", "fleet/internal/store/round.go",
			[][2]string{{"digest = $6 WHERE run = $1 AND id = $2 AND state = 'closing'", "digest = $6 WHERE run = $1 AND id = $2"}}, "./fleet/internal/store", "OnSQLite"},
		{"fleet: a revoked device renews", "fleet/internal/store/device.go",
			[][2]string{{"if revoked > 0 {", "if revoked > 99 {"}}, "./fleet/internal/store", "OnSQLite"},
		{"fleet: a code is good for two devices", "fleet/internal/store/device.go",
			[][2]string{{"case before != nil && !bytes.Equal(before, key[:]):", "case before != nil && bytes.Equal(before, nil):"}}, "./fleet/internal/store", "OnSQLite"},
		{"fleet: late reports are taken", "fleet/internal/store/report.go",
			[][2]string{{"case now > until+grace.Milliseconds():", "case now > until+1000*grace.Milliseconds():"}}, "./fleet/internal/store", "TimesAreThose"},
		{"fleet: a device has one nullifier for all rounds", "fleet/aggregator/serve.go",
			[][2]string{{"pseudonymOf(id.Name), l.id, round.Number)", "pseudonymOf(id.Name), l.id, 1)"}}, "./fleet/aggregator", "NullifierIsOfOneRound"},
		{"fleet: keys that are not here are announced", "fleet/aggregator/keys.go",
			[][2]string{{"		if !same {", "		if !same && key.ID == 0 {"}}, "./fleet/aggregator", "KeysAreRotated"},
		{"fleet: intervals hold for one look", "fleet/aggregator/success.go",
			[][2]string{{"(1-Confidence)/float64(looks)", "(1-Confidence)*float64(looks)/float64(looks)"}}, "./fleet/aggregator", "SuccessCovers"},
		{"fleet: more evaluations than were announced", "fleet/aggregator/operate.go",
			[][2]string{{"if l.settings.Evaluations < n+1+later {", "if l.settings.Evaluations < n+later {"}}, "./fleet/aggregator", "EvaluationsAreThose"},
		{"service: every role may use a route", "internal/service/server.go",
			[][2]string{{"!slices.Contains(g.a.Roles, id.Role)", "!slices.Contains(g.a.Roles, id.Role) && id.Role == \"\""}}, "./internal/service", "WhoMayUseARoute"},
		{"service: it listens anywhere without TLS", "internal/service/server.go",
			[][2]string{{"return ip != nil && ip.IsLoopback()", "return ip == nil || ip.IsLoopback() || !ip.IsLoopback()"}}, "./internal/service", "WithoutTLS"},
		{"service: an old list of revocations is good", "internal/service/revoked.go",
			[][2]string{{"age > r.Oldest {", "age > 100*r.Oldest {"}}, "./internal/service", "OldListOfRevocations"},
		{"service: words of a log are any text", "internal/service/log.go",
			[][2]string{{"if kind == Text || kind == Word && word(v.String()) {", "if kind == Text || kind == Word && !word(\"?\") {"}}, "./internal/service", "ALogSaysNothing"},
		{"authority: a request has wishes", "internal/service/authority/authority.go",
			[][2]string{{"if len(r.Extensions) > 0 {", "if len(r.Extensions) > 1 {"}}, "./internal/service/authority", "RequestsThatAreRefused"},
		{"database: another program's schema is taken over", "internal/service/database/migrate.go",
			[][2]string{{"if hash != steps[i].hash {", "if hash == \"\" {"}}, "./internal/service/database", "VersionsAreApplied"},
	}
}
