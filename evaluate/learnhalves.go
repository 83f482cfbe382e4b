package evaluate

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// halves draws who is learned from, and who judges, of d. It looks at nobody's record: under
// replace_one so many persons by lot, under add_remove_one each by a lot of their own, a hash of
// the name under a key that is drawn for this run and kept nowhere.
func (q *learnQuestion) halves(d *trajectory.Dataset, src *noise.Source) (learn, judge []int) {
	persons := d.Persons()
	if q.public.Privacy.Adjacency == dp.AddRemoveOne {
		lot := newLots(src)
		share := float64(q.learnOn) / float64(q.public.Persons)
		for person := range persons {
			if lot.of(d, person) < share {
				learn = append(learn, person)
			} else {
				judge = append(judge, person)
			}
		}
		return learn, judge
	}
	all := make([]int, persons)
	for i := range all {
		all[i] = i
	}
	for i := range int(q.learnOn) {
		j := i + int(src.Uint64n(uint64(persons-i)))
		all[i], all[j] = all[j], all[i]
	}
	slices.Sort(all[:q.learnOn])
	slices.Sort(all[q.learnOn:])
	return all[:q.learnOn], all[q.learnOn:]
}

// lots are numbers in [0, 1) of persons, by a secret key.
type lots struct{ key [32]byte }

func newLots(src *noise.Source) lots {
	var l lots
	for i := 0; i < len(l.key); i += 8 {
		binary.LittleEndian.PutUint64(l.key[i:], src.Uint64())
	}
	return l
}

// of is that of a person, by name or, of data without names, by place.
func (l lots) of(d *trajectory.Dataset, person int) float64 {
	name := strconv.Itoa(person)
	if d.PersonID != nil {
		name = d.PersonID[person]
	}
	h := hmac.New(sha256.New, l.key[:])
	h.Write([]byte(name))
	return float64(binary.LittleEndian.Uint64(h.Sum(nil))>>11) / (1 << 53)
}
