package command

// matchFold reports whether name, in lower case, matches the glob pattern in any
// case: ? any byte, * any bytes, [a-z] [^a-z] one of a class, \ takes the next
// byte as it is. Its time is bounded by len(pattern)·len(name).
func matchFold(pattern []byte, name string) bool {
	p, n := 0, 0
	star, mark := -1, 0 // the last * and the name position it has eaten up to
	for n < len(name) {
		next, ok := p, false
		if p < len(pattern) && pattern[p] == '*' {
			star, mark = p, n
			p++
			continue
		}
		if p < len(pattern) {
			next, ok = matchOne(pattern, p, name[n])
		}
		switch {
		case ok:
			p, n = next, n+1
		case star >= 0: // let the star eat one byte more
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// matchOne matches b with the element at p, which is no star, and returns where
// the next element starts.
func matchOne(pattern []byte, p int, b byte) (next int, ok bool) {
	switch pattern[p] {
	case '?':
		return p + 1, true
	case '[':
		return matchClass(pattern, p+1, b)
	case '\\':
		if p+1 < len(pattern) {
			p++
		}
	}
	return p + 1, lower(pattern[p]) == lower(b)
}

// matchClass matches b with the class whose content starts at p. A class that is
// not closed ends with the pattern.
func matchClass(pattern []byte, p int, b byte) (next int, ok bool) {
	not := p < len(pattern) && pattern[p] == '^'
	if not {
		p++
	}
	in := false
	for ; p < len(pattern) && pattern[p] != ']'; p++ {
		low, high := pattern[p], pattern[p]
		switch {
		case low == '\\' && p+1 < len(pattern):
			p++
			low, high = pattern[p], pattern[p]
		case p+2 < len(pattern) && pattern[p+1] == '-':
			high = pattern[p+2]
			p += 2
		}
		low, high = lower(low), lower(high)
		in = in || min(low, high) <= lower(b) && lower(b) <= max(low, high)
	}
	return min(p+1, len(pattern)), in != not
}
