package aggregator_test

import (
	"database/sql"
	"encoding/hex"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver of the store

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
)

// TestNothingTellsOfADevice: after a whole run, with everything that can go wrong for a
// device, no log, metric or table holds who it is.
func TestNothingTellsOfADevice(t *testing.T) {
	w, o, ds := oneOpenRound(t, nil, 4)
	run, round, _, err := ds[0].follow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	secrets := map[string][]byte{}
	for i, d := range ds {
		body := d.report(t, run, round, []float64{1, 2, 3})
		r, err := d.request(run, round, flipped(body))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.send(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		r.Sealed[9] ^= 1
		if _, err := d.send(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		name, err := hex.DecodeString(d.cert.Subject.CommonName)
		if err != nil {
			t.Fatal(err)
		}
		for what, secret := range map[string][]byte{"name": name, "serial": d.cert.SerialNumber.Bytes(), "pseudonym key": d.pseudonym[:], "public key": d.cert.RawSubjectPublicKeyInfo[27:59], "certificate": d.cert.Raw[200:232]} {
			secrets[fmt.Sprintf("%s of device %d", what, i)] = secret
		}
	}
	if _, err := o.Revoke(t.Context(), &fleetv1.RevokeRequest{Serial: ds[3].cert.SerialNumber.Bytes()}); err != nil {
		t.Fatal(err)
	}
	if _, err := ds[3].askRun(t.Context()); err == nil {
		t.Error("the revoked device asks")
	}
	if c, err := net.Dial("tcp", strings.TrimPrefix(w.url, "https://")); err == nil { // no TLS
		fmt.Fprint(c, "GET / HTTP/1.1\r\n\r\n")
		c.Close()
	}
	if _, err := o.CloseRound(t.Context(), &fleetv1.CloseRoundRequest{Round: 1}); err != nil {
		t.Fatal(err)
	}
	w.await(t, o, 1)
	page, err := dump(w.asOperator(t), w.url+"/")
	if err != nil || !strings.Contains(page, ">applied<") {
		t.Errorf("the page: %v\n%s", err, page)
	}
	metrics, err := dump(w.asOperator(t), w.url+"/metrics")
	if err != nil || !strings.Contains(metrics, `fleet_uploads_total{verdict="accepted"} 4`) || !strings.Contains(metrics, `fleet_uploads_total{verdict="spent"} 4`) {
		t.Errorf("metrics: %v\n%s", err, metrics)
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(w.log.String(), `"state":"applied","accepted":4`) {
		t.Errorf("the log says %s", w.log.String())
	}
	tables, columns := allOf(t, filepath.Join(w.dir, "fleet.db"))
	for place, text := range map[string]string{"log": w.log.String(), "metrics": metrics, "page": page, "tables": tables} {
		for what, secret := range secrets {
			for _, form := range []string{string(secret), hex.EncodeToString(secret), strings.ToUpper(hex.EncodeToString(secret))} {
				if strings.Contains(text, form) {
					t.Errorf("the %s: %s holds it", what, place)
				}
			}
		}
		if place != "log" && strings.Contains(text, "127.0.0.1") {
			t.Errorf("%s: holds an address", place)
		}
	}
	if strings.Count(w.log.String(), "127.0.0.1") > 0 {
		t.Errorf("the log holds an address: %s", w.log.String())
	}
	if want := []string{"run", "round", "nullifier", "body"}; !slices.Equal(columns["fleet_report"], want) {
		t.Errorf("reports have the columns %v; want %v", columns["fleet_report"], want)
	}
	for name := range columns {
		if strings.Contains(name, "device") {
			t.Errorf("there is a table %s", name)
		}
	}
}

// TestANullifierIsOfOneRound: what the store holds of a device in two rounds is what the
// device computes, and never the same.
func TestANullifierIsOfOneRound(t *testing.T) {
	w, o, ds := oneOpenRound(t, nil, 1)
	want := map[uint64][32]byte{}
	for number := uint64(1); number <= 2; number++ {
		if number > 1 {
			openRound(t, o, nil)
		}
		run, round, _, err := ds[0].follow(t.Context())
		if err != nil || round.Number != number {
			t.Fatal(round, err)
		}
		ds[0].report(t, run, round, []float64{1, 2, 3})
		want[number] = fleet.Nullifier(ds[0].pseudonym, runID, number)
		if _, err := o.CloseRound(t.Context(), &fleetv1.CloseRoundRequest{Round: number}); err != nil {
			t.Fatal(err)
		}
		w.await(t, o, number)
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.dir, "fleet.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT round, nullifier FROM fleet_report`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var round uint64
		var got []byte
		if err := rows.Scan(&round, &got); err != nil {
			t.Fatal(err)
		}
		if [32]byte(got) != want[round] {
			t.Errorf("in round %d the store has the nullifier %x; the device has %x", round, got, want[round])
		}
	}
	if rows.Err() != nil || n != 2 || want[1] == want[2] {
		t.Errorf("%d reports: %v", n, rows.Err())
	}
}

// allOf is everything in all tables of a SQLite file.
func allOf(t *testing.T, path string) (text string, columns map[string][]string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	names, err := db.Query(`SELECT name FROM sqlite_master WHERE type = 'table'`)
	if err != nil {
		t.Fatal(err)
	}
	var tables []string
	for names.Next() {
		var n string
		if err := names.Scan(&n); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, n)
	}
	if err := names.Err(); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	columns = map[string][]string{}
	for _, table := range tables {
		rows, err := db.Query(`SELECT * FROM ` + table)
		if err != nil {
			t.Fatal(err)
		}
		if columns[table], err = rows.Columns(); err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			values := make([]any, len(columns[table]))
			for i := range values {
				values[i] = new(sql.RawBytes)
			}
			if err := rows.Scan(values...); err != nil {
				t.Fatal(err)
			}
			for _, v := range values {
				b.Write(*v.(*sql.RawBytes))
				b.WriteByte('\n')
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		rows.Close()
	}
	if len(tables) < 7 || b.Len() < 1000 {
		t.Fatalf("%d tables with %d bytes: the walk is broken", len(tables), b.Len())
	}
	return b.String(), columns
}
