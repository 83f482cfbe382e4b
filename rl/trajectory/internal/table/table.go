package table

import (
	"cmp"
	"context"
	"io"
	"math"
	"slices"
	"sort"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Table is one open file of some format. It knows columns and rows and nothing
// of episodes: a format turns bytes into numbers and keys, and the reader above
// it finds the decisions, episodes and persons in them, so that every format is
// checked by the same code.
type Table interface {
	// Fields lists the columns of the file, in order.
	Fields() []Field
	// Width is the number of entries in the first row of a list field.
	Width(field int) (int, error)
	// Select says what Read is to deliver, sorted by field, before the first Read. It
	// may be called again for fields after those; of one that it refuses it takes
	// nothing.
	Select([]Pick) error
	// Read replaces the batch, which is empty, by the next rows, at least one and
	// at most its Cap. It returns io.EOF, and no rows, after the last. A value that
	// cannot be read is null in the batch, with a [Fault] beside it; an error means
	// that the file cannot be read on, and is returned only once the rows before it
	// have been delivered.
	Read(*Batch) error
	// Progress tells how many bytes of the file have been consumed.
	Progress() int64
	Close() error
}

// Lined is a table of a text file.
type Lined interface {
	Table
	// Lines is the number of lines of the file, those without a row included, once Read
	// has returned io.EOF.
	Lines() int
}

// Divisible is a table that several processors may read.
type Divisible interface {
	Table
	// Divide is called after the last Select and before the first Read, in place of
	// which the table that it returns is to be read: it delivers the same rows and
	// faults in the same order, in batches of its own making, which up to a number of
	// workers decode ahead of what is asked for. It takes the place of the first one,
	// which it closes. It returns nil where nothing is to be gained.
	Divide(workers int, batch func() *Batch) Table
}

// Cuttable is a table that several workers may read, each a stretch of its rows.
type Cuttable interface {
	Table
	// Cut is called before the first Select. It gives the stretches of the table in
	// order, each to be opened when it is wanted, as a rule several for each worker;
	// nil where there is only one. The table must stay open until all of them are
	// closed, and is itself not read.
	Cut(workers int) []func() (Stretch, error)
	// Part is called before the first Select, also of another opening of the file. It gives one of
	// n stretches of about one size, which together are the table whatever is in it; nil where
	// that cannot be promised.
	Part(i, n int) (Stretch, error)
}

// Stretch is a part of the rows of a file, consecutive ones, as a table. Read returns
// io.EOF at its end. Closing it leaves the file open.
type Stretch interface {
	Table
	// Beyond is called when Read has returned io.EOF: from then on it delivers the rows
	// after the stretch, up to the end of the file.
	Beyond()
	// Span tells where the rows of the stretch start and, after Beyond, where they end.
	// Where a format has to guess, a stretch counts only if it starts where the one
	// before it ends.
	Span() (start, end int64)
	// Numbered tells, after Beyond, what is to be added to the numbers of rows in the
	// stretches after this one: 0 where all are numbered from the start of the file.
	Numbered() int
}

// Format opens and writes files of one kind.
type Format struct {
	// Name is what a user writes to choose the format, such as "csv".
	Name string
	// Extensions are the file name endings that choose it, such as ".csv".
	Extensions []string
	// Open opens one file, for as long as the context is. It has read the header when it returns.
	Open func(ctx context.Context, path string) (Table, error)
	// Nested opens a file whose rows, or columns, are not at the top of its records; nil if
	// the format has no such files.
	Nested func(ctx context.Context, path string, n Nesting) (Table, error)
	// Write writes a dataset as one file; nil if the format is not of single files.
	Write func(io.Writer, *trajectory.Dataset) error
}

// Field describes one column of a file.
type Field struct {
	Name string
	// List tells that a row holds a list of numbers in place of one.
	List bool
	// Rows tells that a row holds a list of objects, which may be rows.
	Rows bool
	// Dated tells that the format has a type of dates, or of times of a date, and the
	// column has it; Zoned that the times are moments, which count from a time in UTC.
	Dated, Zoned bool
}

// PickKind says how a column is to be delivered.
type PickKind uint8

const (
	// Number is a float64; integers and booleans are widened.
	Number PickKind = iota
	// Key is text, or an integer written as text.
	Key
	// Presence is 1 where there is a value of any type, null where there is none.
	Presence
	// Time is the microseconds since 1970 of a field that is Dated.
	Time
)

// Pick asks for one column. A number goes to Values[row*Width+Offset] of its
// block; a list of Width numbers fills that many places from there; a key goes
// to its Runs.
type Pick struct {
	Field  int
	Kind   PickKind
	Block  int
	Offset int
	// List is the number of entries every row of a list field must have; 0 for
	// a field that is not a list.
	List int
	// Advice says what a user does about values that are no numbers, in a column of
	// this meaning; a format tells it before its own advice.
	Advice string
	// Word tells of a key that it stands for a number, as a date or a word of a vocabulary
	// does, and names nobody: a value that is no key is then a fault of its row alone.
	Word bool
	// Found tells that nobody named the column: it is read because it is there. A
	// format whose rows may lack a column, such as NDJSON, must refuse rows that
	// lack this one.
	Found bool
	// Part tells that it is read because the file has it, and nobody needs it. A
	// format whose rows may lack a column must tell of rows that lack this one
	// ([Batch.Lack]).
	Part bool
}

// Advise puts the advice of a pick, if it has any, before that of a format.
func (p Pick) Advise(remedy string) string {
	if p.Advice == "" {
		return remedy
	}
	return p.Advice + ", or " + remedy
}

// A batch has at most batchRows rows and about batchValues numbers.
const (
	batchRows   = 1 << 10
	batchValues = 1 << 21
)

// Batch is a run of consecutive rows. Missing numbers are Null.
type Batch struct {
	// Rows is how many there are, Cap how many there may be.
	Rows, Cap int
	// Row numbers the rows, as in trajectory.InputError.
	Row    []int
	Blocks []Block
	Keys   []Runs
	// Faults are the values that could not be read, in the order of their rows.
	Faults []Fault
	// lacks are the places where a row has no such column at all.
	lacks map[lack]bool
}

// Fault is a value that a format could not read.
type Fault struct {
	// Row is the row of the batch.
	Row int
	Err trajectory.InputError
	// Form tells that it is no matter of this row alone: another row said what the
	// column is.
	Form bool
}

type lack struct {
	row    int
	column string
}

// Fail notes a fault of the row that is being added.
func (b *Batch) Fail(err *trajectory.InputError) {
	b.Faults = append(b.Faults, Fault{b.Rows, *err, false})
}

// SortFaults puts faults that were noted by column in the order of their rows.
func (b *Batch) SortFaults() {
	slices.SortStableFunc(b.Faults, func(x, y Fault) int { return cmp.Compare(x.Row, y.Row) })
}

// FailForm notes a fault of the row that is being added that is a matter of form.
func (b *Batch) FailForm(err *trajectory.InputError) {
	b.Faults = append(b.Faults, Fault{b.Rows, *err, true})
}

// Lack notes that the row that is being added lacks a column that other rows have.
func (b *Batch) Lack(column string) {
	if b.lacks == nil {
		b.lacks = map[lack]bool{}
	}
	b.lacks[lack{b.Rows, column}] = true
}

// Lacks tells whether a row lacks a column, where it must not be said of the row
// alone that a value is missing.
func (b *Batch) Lacks(row int, column string) bool { return b.lacks[lack{row, column}] }

// Lacked lists, by row, the columns that rows lack, in the order of their names.
func (b *Batch) Lacked() map[int][]string {
	if len(b.lacks) == 0 {
		return nil
	}
	columns := make(map[int][]string, len(b.lacks))
	for l := range b.lacks {
		columns[l.row] = append(columns[l.row], l.column)
	}
	for _, c := range columns {
		slices.Sort(c)
	}
	return columns
}

// FaultsOf gives the faults of a row.
func (b *Batch) FaultsOf(row int) []Fault {
	lo := sort.Search(len(b.Faults), func(i int) bool { return b.Faults[i].Row >= row })
	hi := lo
	for hi < len(b.Faults) && b.Faults[hi].Row == row {
		hi++
	}
	return b.Faults[lo:hi]
}

// Faulty tells whether a row has a fault in a column of the file.
func (b *Batch) Faulty(row int, column string) bool {
	return slices.ContainsFunc(b.FaultsOf(row), func(f Fault) bool { return f.Err.Column == column })
}

// Block holds Width numbers a row.
type Block struct {
	Width  int
	Values []float64
	Known  Bounds
}

// Bounds are what is known of the values of a block without a look at each.
type Bounds struct {
	columns   int // of which it is known
	low, high float64
	whole     bool
}

// Add tells of a further column of the block that all values lie between low and high, none is missing, and
// all are whole if whole is true.
func (b *Bounds) Add(low, high float64, whole bool) {
	if b.columns == 0 {
		b.low, b.high, b.whole = low, high, whole
	}
	b.columns++
	b.low, b.high, b.whole = min(b.low, low), max(b.high, high), b.whole && whole
}

// With is what is known of rows of which some are of one block and some of another.
func (b Bounds) With(o Bounds) Bounds {
	return Bounds{min(b.columns, o.columns), min(b.low, o.low), max(b.high, o.high), b.whole && o.whole}
}

// Within tells that all values are known to lie between low and high, and Whole that they are known to be whole.
func (b *Block) Within(low, high float64) bool {
	return b.Known.columns == b.Width && b.Known.low >= low && b.Known.high <= high
}

// Whole is told of at [Block.Within].
func (b *Block) Whole() bool { return b.Known.columns == b.Width && b.Known.whole }

// NewBatch makes an empty batch for blocks of the given widths and a number of
// keys.
func NewBatch(widths []int, keys int) *Batch {
	total := 1
	for _, w := range widths {
		total += w
	}
	n := min(batchRows, max(1, batchValues/total))
	b := &Batch{Cap: n, Row: make([]int, n), Blocks: make([]Block, len(widths)), Keys: make([]Runs, keys)}
	for i, w := range widths {
		b.Blocks[i] = Block{Width: w, Values: make([]float64, n*w)}
	}
	return b
}

// Reset empties the batch.
func (b *Batch) Reset() {
	b.Rows, b.Faults = 0, b.Faults[:0]
	clear(b.lacks)
	for i := range b.Blocks {
		b.Blocks[i].Known.columns = 0
	}
	for i := range b.Keys {
		b.Keys[i].reset()
	}
}

// nullBits is the one NaN that stands for a missing number inside a batch.
const nullBits = 0x7ff8_0000_0000_07a2

// Null is the missing number of a batch: a NaN that no arithmetic produces. A
// format must replace any NaN of its file by math.NaN(), which differs.
func Null() float64 { return math.Float64frombits(nullBits) }

// IsNull reports whether v is the missing number.
func IsNull(v float64) bool { return math.Float64bits(v) == nullBits }
