package command

import "strconv"

// A KeyRef is one key of a call.
type KeyRef struct {
	Index  int     // which argument, the command's name being 0
	Access KeyFlag // how the command uses it
}

// A finder tells the keys of a call where specs alone cannot: because options
// decide how a key is used, or because a word that introduces keys may also be a
// value. It must stand any args.
type finder func(c *Command, dst []KeyRef, args [][]byte) []KeyRef

// finders holds the commands that need one. The table is refused at start if the
// specs of another command are not simple.
var finders = map[string]finder{
	"set":               findSet,
	"bitfield":          findBitfield,
	"sort":              findSort,
	"sort_ro":           findFirst,
	"migrate":           findMigrate,
	"georadius":         findGeoRadius,
	"georadiusbymember": findGeoRadius,
	"xread":             findStreams,
	"xreadgroup":        findStreams,
}

// AppendKeys appends where the keys of the call args stand. args begins with
// the command's name (the container's for a subcommand) and should have passed
// Resolve; whatever it holds, every Index is within args.
//
// ErrNoKeysFound means that the command takes keys but the arguments are too
// mixed up to tell them: the command itself then has a more precise error. A
// command without keys, or with optional ones left out, gives none and no error.
// It does not allocate if dst has room.
func (c *Command) AppendKeys(dst []KeyRef, args [][]byte) ([]KeyRef, error) {
	if len(c.Keys) == 0 {
		return dst, nil
	}
	before := len(dst)
	if c.find != nil {
		if len(args) > 0 {
			dst = c.find(c, dst, args)
		}
	} else {
		dst = c.appendSpecs(dst, args)
	}
	if len(dst) == before && c.Flags&NoMandatoryKeys == 0 && c.HasKeys() {
		return dst, ErrNoKeysFound
	}
	return dst, nil
}

// appendSpecs follows the key specs. One that does not fit the arguments makes
// the whole call have no keys.
func (c *Command) appendSpecs(dst []KeyRef, args [][]byte) []KeyRef {
	before := len(dst)
	for i := range c.Keys {
		s := &c.Keys[i]
		if s.Flags&NotKey != 0 {
			continue
		}
		first, last, ok := s.bounds(args)
		if !ok {
			return dst[:before]
		}
		for k := first; k <= last; k += s.Step {
			dst = append(dst, KeyRef{Index: k, Access: s.Flags})
		}
	}
	return dst
}

// bounds returns the first and last argument a simple spec may point at. ok is
// false unless both are within args and at least one key is between them.
func (s *KeySpec) bounds(args [][]byte) (first, last int, ok bool) {
	first = s.Index
	switch {
	case s.Find == FindCount:
		at := s.Index + s.CountAt
		if at >= len(args) {
			return 0, 0, false
		}
		n, ok := keyCount(args[at], len(args))
		if !ok {
			return 0, 0, false
		}
		first += s.FirstKey
		last = first + n - 1
	case s.Last >= 0:
		last = first + s.Last
	case s.Limit > 1:
		last = first + (len(args)-first)/s.Limit + s.Last
	default:
		last = len(args) + s.Last
	}
	return first, last, first <= last && last < len(args)
}

// keyCount reads a number of keys, which cannot exceed most.
func keyCount(text []byte, most int) (int, bool) {
	if len(text) > 10 || len(text) > 1 && text[0] == '0' {
		return 0, false
	}
	n := 0
	for _, b := range text {
		if b < '0' || b > '9' {
			return 0, false
		}
		n = n*10 + int(b-'0')
	}
	return n, len(text) > 0 && n <= most
}

// findFirst: the key is the first argument, whatever else the command reads.
func findFirst(c *Command, dst []KeyRef, args [][]byte) []KeyRef {
	return appendKey(dst, args, 1, c.Keys[0].Flags&^VariableFlags)
}

// findSet: SET key value … reads the key only with GET among the options.
func findSet(_ *Command, dst []KeyRef, args [][]byte) []KeyRef {
	access := OW | Update
	for i := 3; i < len(args); i++ {
		if equalFold("get", args[i]) {
			access = RW | Access | Update
		}
	}
	return appendKey(dst, args, 1, access)
}

// findBitfield: BITFIELD key [GET e o | OVERFLOW b | SET e o v | INCRBY e o i]…
// writes unless every operation is a GET. Unknown words count as a write.
func findBitfield(_ *Command, dst []KeyRef, args [][]byte) []KeyRef {
	access := RO | Access
	for i := 2; i < len(args); {
		left := len(args) - i - 1
		switch {
		case equalFold("get", args[i]) && left >= 2:
			i += 3
		case equalFold("overflow", args[i]) && left >= 1:
			i += 2
		default:
			access = RW | Access | Update
			i = len(args)
		}
	}
	return appendKey(dst, args, 1, access)
}

// findSort: SORT key [BY p] [LIMIT o n] [GET p]… [STORE dst]. The last STORE
// counts. Keys made from BY and GET patterns depend on the data and are not told.
func findSort(_ *Command, dst []KeyRef, args [][]byte) []KeyRef {
	store := 0
	for i := 2; i < len(args); i++ {
		switch {
		case equalFold("limit", args[i]):
			i += 2
		case equalFold("get", args[i]), equalFold("by", args[i]):
			i++
		case equalFold("store", args[i]):
			i++
			store = i
		}
	}
	dst = appendKey(dst, args, 1, RO|Access)
	return appendKey(dst, args, store, OW|Update)
}

// findMigrate: MIGRATE host port key|"" db timeout [COPY] [REPLACE] [AUTH p]
// [AUTH2 u p] [KEYS key…]. With KEYS the first form must be empty.
func findMigrate(c *Command, dst []KeyRef, args [][]byte) []KeyRef {
	access := c.Keys[0].Flags
	for i := 6; i < len(args); i++ {
		switch {
		case equalFold("auth", args[i]):
			i++
		case equalFold("auth2", args[i]):
			i += 2
		case equalFold("keys", args[i]):
			if len(args[3]) > 0 {
				return dst
			}
			for k := i + 1; k < len(args); k++ {
				dst = appendKey(dst, args, k, access)
			}
			return dst
		}
	}
	return appendKey(dst, args, 3, access)
}

// findGeoRadius: the options of GEORADIUS and GEORADIUSBYMEMBER may name one key
// to store under. The command obeys the last, but every one named is told, so
// that no target escapes the check of permissions.
func findGeoRadius(c *Command, dst []KeyRef, args [][]byte) []KeyRef {
	dst = appendKey(dst, args, 1, c.Keys[0].Flags)
	for i := c.Keys[1].From; i < len(args)-1; i++ {
		if equalFold("store", args[i]) || equalFold("storedist", args[i]) {
			i++
			dst = appendKey(dst, args, i, c.Keys[1].Flags)
		}
	}
	return dst
}

// findStreams: the first half of what stands behind STREAMS, the other half
// being ids. STREAMS may also be the name of a group or a consumer, so the
// options before it are read one by one.
func findStreams(c *Command, dst []KeyRef, args [][]byte) []KeyRef {
	for i := 1; i < len(args); i++ {
		switch {
		case equalFold("block", args[i]), equalFold("count", args[i]):
			i++
		case equalFold("group", args[i]):
			i += 2
		case equalFold("noack", args[i]):
		case equalFold("streams", args[i]):
			n := len(args) - i - 1
			if n%2 != 0 {
				return dst
			}
			for k := i + 1; k <= i+n/2; k++ {
				dst = appendKey(dst, args, k, c.Keys[0].Flags)
			}
			return dst
		default:
			return dst
		}
	}
	return dst
}

// appendKey appends argument i if there is one; 0 is never a key.
func appendKey(dst []KeyRef, args [][]byte, i int, access KeyFlag) []KeyRef {
	if i == 0 || i >= len(args) {
		return dst
	}
	return append(dst, KeyRef{Index: i, Access: access &^ (Incomplete | VariableFlags)})
}

// String shows the reference as index:flags.
func (k KeyRef) String() string { return strconv.Itoa(k.Index) + ":" + k.Access.String() }
