package tiers

// Kind says what an Op does.
type Kind uint8

// The kinds of change. Zero is none of them, so a forgotten kind is noticed.
const (
	Set         Kind = iota + 1 // Key gets Value
	Delete                      // Key is removed
	DeleteRange                 // all keys in [Key, Value) are removed
)

// opOverhead is the most one op costs beside its bytes in a store's log: kind and
// two lengths.
const opOverhead = 11

// Op is one change of rows.
type Op struct {
	Kind Kind
	// Below marks a change for the bottom tier only, which costs memory and the
	// stripes nothing: use it for rows that are always written Below and always
	// read by GetBelow or an iterator.
	Below bool
	// Key is the row's key, or the first key of the range.
	Key []byte
	// Value is the row's value, or the end of the range, which is exclusive.
	Value []byte
}

// Batch is an ordered list of changes, applied as one. Its ops alias the
// caller's memory, which must not change until Apply has returned. The zero
// value is an empty batch; Reset makes it empty again and keeps its memory, so
// a reused batch costs no allocation.
type Batch struct {
	Ops []Op
	// Size estimates the bytes the batch takes in a store's log.
	Size int
}

// Set adds the change that gives key a value.
func (b *Batch) Set(key, value []byte) { b.add(Op{Kind: Set, Key: key, Value: value}) }

// SetBelow is Set for a row that never is in memory; see Op.Below.
func (b *Batch) SetBelow(key, value []byte) {
	b.add(Op{Kind: Set, Below: true, Key: key, Value: value})
}

// Delete adds the removal of key.
func (b *Batch) Delete(key []byte) { b.add(Op{Kind: Delete, Key: key}) }

// DeleteBelow is Delete for a row that was written by SetBelow.
func (b *Batch) DeleteBelow(key []byte) { b.add(Op{Kind: Delete, Below: true, Key: key}) }

// DeleteRange adds the removal of all keys from start, inclusive, to end,
// exclusive.
func (b *Batch) DeleteRange(start, end []byte) {
	b.add(Op{Kind: DeleteRange, Key: start, Value: end})
}

// DeleteRangeBelow is DeleteRange for rows that were all written by SetBelow.
func (b *Batch) DeleteRangeBelow(start, end []byte) {
	b.add(Op{Kind: DeleteRange, Below: true, Key: start, Value: end})
}

func (b *Batch) add(op Op) {
	b.Ops = append(b.Ops, op)
	b.Size += len(op.Key) + len(op.Value) + opOverhead
}

// Len is the number of changes.
func (b *Batch) Len() int { return len(b.Ops) }

// Reset empties the batch and lets go of the caller's memory.
func (b *Batch) Reset() {
	clear(b.Ops)
	b.Ops, b.Size = b.Ops[:0], 0
}
