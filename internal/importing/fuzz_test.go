package importing_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/internal/importing"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// Of any bytes, import makes a table that is read as the bytes are, or refuses them as the
// curator's fault and leaves nothing. With a repair it refuses nothing that a question reads.
func FuzzImport(f *testing.F) {
	f.Add([]byte("unit_id,episode_id,step,sex,obs_x,arm,behavior_prob,reward,terminated\na,1,0,f,1,drug,0.5,1,0\na,1,1,m,x,drug,0.5,,1\nb,2,0,f,2,placebo,2,1,1\n"), byte(3))
	f.Add([]byte("unit_id,episode_id,sex,obs_x,arm,reward,next_sex,next_obs_x\na,1,f,1,drug,1,m,2\na,1,m,2,,,,\nb,2,q,NaN,placebo,1e999,,\n"), byte(1))
	f.Add([]byte("unit_id,episode_id,step,sex,obs_x,arm,reward\na,1,2024-01-02,f,1,drug,1\na,1,2024-01-02,f,1,drug,1\n\"b\",2,2024-01-01,m,,placebo,-1\n"), byte(7))
	f.Fuzz(func(t *testing.T, data []byte, mode byte) {
		dir := t.TempDir()
		raw, table := filepath.Join(dir, "raw.csv"), filepath.Join(dir, "table.parquet")
		if err := os.WriteFile(raw, data, 0o600); err != nil {
			t.Fatal(err)
		}
		c := config.Config{Privacy: config.Privacy{None: true}, Data: config.Data{Path: config.Names{raw}, Columns: map[string]config.Names{"action": {"arm"}},
			Actions: &config.Vocabulary{Words: []string{"placebo", "drug"}}, Encode: map[string]config.Vocabulary{"sex": {Words: []string{"f", "m"}}}}}
		repair := mode&1 != 0
		o := trajectory.Options{Repair: repair, Unit: trajectory.UnitPerson, Optional: trajectory.AllParts &^ trajectory.Final, Observations: []string{"sex", "obs_x"}}
		if repair {
			o.Missing = trajectory.MissingZero
		}
		of := o
		of.Columns, of.Encode = map[string]string{"action": "arm"}, map[string]trajectory.Vocabulary{"action": {Words: []string{"placebo", "drug"}}, "sex": {Words: []string{"f", "m"}}}
		switch mode >> 1 & 3 {
		case 1:
			c.Data.Steps, of.Steps = &config.Steps{Kind: "ordered", Sort: true}, trajectory.Steps{Ordered: true, Sort: true}
		case 3:
			c.Data.Steps, of.Steps = &config.Steps{Kind: "date", Sort: true}, trajectory.Steps{Date: "iso", Sort: true}
		}
		_, _, err := importing.Import(t.Context(), importing.Order{Config: c, Table: table, Repair: repair})
		want, _, wantErr := file.Read(t.Context(), []string{raw}, "", of)
		if err != nil {
			if !errors.Is(err, trajectory.ErrInput) {
				t.Fatal(err)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
				t.Fatalf("%v is left (%v)", left, err)
			}
			return
		}
		if errors.Is(wantErr, trajectory.ErrColumn) { // of which import does not know
			return
		}
		got, _, err := file.Read(t.Context(), []string{table}, "", o)
		if header, _, _ := bytes.Cut(data, []byte("\n")); errors.Is(err, trajectory.ErrColumn) && !bytes.Contains(header, []byte("obs_x")) {
			return // a question finds obs_x in a column x, which import leaves out with a notice
		}
		if err != nil || wantErr != nil {
			t.Fatalf("of the data %v, of the table %v", wantErr, err)
		}
		by := cmpopts.IgnoreFields(trajectory.Dataset{}, "Origin", "FirstRow", "Final", "HasFinal")
		if diff := cmp.Diff(inOrder(want), inOrder(got), by, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}
