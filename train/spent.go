package train

// spent remembers which tasks were answered, and by what: a digest for each slot
// from Base on, 0 where no report came. Slots whose reports would be stale are
// forgotten.
type spent struct {
	Base    uint64   `json:"base"`
	Digests []uint64 `json:"digests"`
	// First is the first slot that was issued under each of the versions that a
	// report may still have.
	First []uint64 `json:"first"`
}

// digest is FNV-1a over the bytes, never 0. It tells a retry from another report of
// the same token's holder, and need not withstand attack: either way nothing
// changes.
func digest(data []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range data {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return max(h, 1)
}

// at returns the digest of the report on a slot, 0 where there was none or it is
// forgotten.
func (s *spent) at(slot uint64) uint64 {
	if slot < s.Base || slot-s.Base >= uint64(len(s.Digests)) {
		return 0
	}
	return s.Digests[slot-s.Base]
}

// mark records the report on a slot that is not forgotten.
func (s *spent) mark(slot, digest uint64) {
	for slot-s.Base >= uint64(len(s.Digests)) {
		s.Digests = append(s.Digests, 0)
	}
	s.Digests[slot-s.Base] = digest
}

// advance notes that the next version begins with slot issued, and forgets slots
// of versions that are more than staleness behind: Submit refuses every slot
// below Base as stale.
func (s *spent) advance(issued uint64, staleness int) {
	if staleness < 0 {
		return
	}
	s.First = append(s.First, issued)
	if surplus := len(s.First) - (staleness + 1); surplus > 0 {
		s.First = s.First[:copy(s.First, s.First[surplus:])]
	}
	// Put off until half of the memory is free, so that it costs O(1) a slot.
	drop := s.First[0] - s.Base
	if drop > 0 && 2*drop >= uint64(len(s.Digests)) {
		s.Digests = s.Digests[:copy(s.Digests, s.Digests[min(drop, uint64(len(s.Digests))):])]
		s.Base = s.First[0]
	}
}
