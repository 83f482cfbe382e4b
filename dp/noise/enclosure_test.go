package noise

import (
	"bufio"
	"fmt"
	"math/big"
	"os"
	"testing"

	"pgregory.net/rapid"
)

func TestExpNegEnclosesTheDecimalOracle(t *testing.T) {
	f, err := os.Open("testdata/exp.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows := 0
	for lines := bufio.NewScanner(f); lines.Scan(); rows++ {
		var num, den, floor big.Int
		if _, err := fmt.Sscan(lines.Text(), &num, &den, &floor); err != nil {
			t.Fatalf("row %d: %v", rows+1, err)
		}
		for _, p := range []uint{1, 7, 64, 128, 192} {
			lo, hi := expNeg(&num, &den, p)
			want := new(big.Int).Rsh(&floor, 192-p)
			// The truth is in [want, want+1].
			if lo.Cmp(want) > 0 || hi.Cmp(want) < 0 || new(big.Int).Sub(hi, lo).Cmp(big.NewInt(3)) > 0 {
				t.Errorf("exp(-%v/%v) to %d bits: [%v, %v], want %v", &num, &den, p, lo, hi, want)
			}
		}
	}
	if rows != 22 {
		t.Errorf("%d rows; want 22", rows)
	}
}

func TestEnclosuresOfDifferentPrecisionMeet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		num := big.NewInt(rapid.Int64Min(0).Draw(t, "num"))
		den := big.NewInt(rapid.Int64Min(1).Draw(t, "den"))
		p := rapid.UintRange(1, 300).Draw(t, "p")
		extra := rapid.UintRange(1, 300).Draw(t, "extra")
		lo, hi := expNeg(num, den, p)
		finerLo, finerHi := expNeg(num, den, p+extra)
		if new(big.Int).Lsh(lo, extra).Cmp(finerHi) > 0 || new(big.Int).Lsh(hi, extra).Cmp(finerLo) < 0 {
			t.Fatalf("exp(-%v/%v): [%v, %v] at %d bits and [%v, %v] at %d are disjoint", num, den, lo, hi, p, finerLo, finerHi, p+extra)
		}
	})
}
