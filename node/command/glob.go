package command

// text is bytes or a string, so that matching a string copies nothing.
type text interface{ ~[]byte | ~string }

// Match reports whether s matches a glob pattern as Redis reads it: * any bytes,
// ? one byte, [ab] [a-z] [^a] one byte of a class, \ takes the next byte as it is.
// Its oddities are kept: a class that is not closed ends with the pattern, bounds
// of a range may be swapped and are compared as signed bytes, and a pattern that
// is not empty, even "*", never matches an empty s. Time is bounded by
// len(pattern)·len(s).
func Match[P, S text](pattern P, s S, nocase bool) bool {
	if len(s) == 0 {
		return len(pattern) == 0
	}
	star, retry := -1, 0 // behind the last *, and the rest of s it was tried with
	p, i := 0, 0
	for i < len(s) {
		if p < len(pattern) && pattern[p] == '*' {
			p++
			star, retry = p, i
			continue
		}
		if p < len(pattern) {
			if next, ok := matchByte(pattern, p, s[i], nocase); ok {
				p, i = next, i+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		// Only the last * needs to take more: whatever an earlier one could
		// gain by it, the last one has seen as well.
		retry++
		p, i = star, retry
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// matchByte matches b with the element at p, which is no *, and returns where the
// next element begins.
func matchByte[P text](pattern P, p int, b byte, nocase bool) (next int, ok bool) {
	switch pattern[p] {
	case '?':
		return p + 1, true
	case '[':
		return matchClass(pattern, p+1, b, nocase)
	case '\\':
		if p+1 < len(pattern) {
			p++
		}
	}
	return p + 1, equal(pattern[p], b, nocase)
}

func equal(a, b byte, nocase bool) bool {
	return a == b || nocase && lower(a) == lower(b)
}

// matchClass matches b with the class that begins behind its bracket at p.
func matchClass[P text](pattern P, p int, b byte, nocase bool) (next int, ok bool) {
	not := p < len(pattern) && pattern[p] == '^'
	if not {
		p++
	}
	found := false
	for ; p < len(pattern) && pattern[p] != ']'; p++ {
		switch {
		case pattern[p] == '\\' && p+1 < len(pattern):
			p++
			found = found || pattern[p] == b // in its own case only
		case p+2 < len(pattern) && pattern[p+1] == '-':
			found = found || within(pattern[p], pattern[p+2], b, nocase)
			p += 2
		default:
			found = found || equal(pattern[p], b, nocase)
		}
	}
	return min(p+1, len(pattern)), found != not
}

func within(low, high, b byte, nocase bool) bool {
	l, h := int8(low), int8(high)
	if l > h {
		l, h = h, l
	}
	v := int8(b)
	if nocase {
		l, h, v = int8(lower(byte(l))), int8(lower(byte(h))), int8(lower(b))
	}
	return l <= v && v <= h
}
