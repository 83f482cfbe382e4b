package file

import (
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/movedfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// mostMoved bounds the rows that are held of a file that is divided, in bytes, and mostPiece a piece of them.
const (
	mostMoved = 128 << 20
	mostPiece = 1 << 17
)

// Divide reads all rows of a stream of [OpenOne] and gives them in pieces, each of rows of
// one place of so many: of that which place says of the plain spelling of the id of their person, as
// [Stream.Owners] has it. Pieces are the same whenever the same file is divided. Joined in the order in which they
// were given, those of one place are data that [Open] reads in memory ([source.Memory]) by the options of the stream, and by further ones,
// as it reads these rows of the file, where what is returned follows the pieces of each part of the file. Values are checked by who does so.
func (s *Stream) Divide(further []trajectory.Options, places int, place func(plain []byte) int, give func(place int, piece []byte) error) ([]byte, error) {
	defer s.in.Close()
	all := make([]*movedfile.Rows, places)
	most := min(mostPiece, mostMoved/places)
	take := func(i int) error {
		piece, err := all[i].Take()
		if err == nil {
			err = give(i, piece)
		}
		return err
	}
	after, err := s.in.Moved(s.part, s.ofParts, further, func(t table.Table, picks []table.Pick) error {
		head, err := movedfile.NewHead(t, picks)
		for i := range all {
			all[i] = movedfile.NewRows(head)
		}
		return err
	}, func(b *table.Batch, plain []byte, from, to int) error {
		i := 0
		if len(plain) > 0 {
			i = place(plain)
		}
		if all[i].Add(b, from, to); all[i].Size() < most {
			return nil
		}
		return take(i)
	})
	for i := range all {
		if err == nil && all[i] != nil && all[i].Len() > 0 {
			err = take(i)
		}
	}
	return movedfile.Later(after), err
}
