package users

// glob reports whether text matches a Redis glob: '*', '?', classes such as
// [a-c] or [^x], and '\' before a literal. Only the last star is tried again, so
// the work is at most len(pattern) times len(text).
func glob(pattern string, text []byte) bool {
	p, t := 0, 0
	star, resume := -1, 0
	for t < len(text) {
		if p < len(pattern) && pattern[p] == '*' {
			star, resume = p, t
			p++
			continue
		}
		if width, ok := one(pattern[p:], text[t]); ok {
			p += width
			t++
			continue
		}
		if star < 0 {
			return false
		}
		resume++
		p, t = star+1, resume
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// one matches the first element of pattern, which is no star, with one byte and
// returns how long the element is.
func one(pattern string, c byte) (width int, ok bool) {
	switch {
	case pattern == "":
		return 0, false
	case pattern[0] == '?':
		return 1, true
	case pattern[0] == '[':
		return class(pattern, c)
	case pattern[0] == '\\' && len(pattern) > 1:
		return 2, pattern[1] == c
	}
	return 1, pattern[0] == c
}

// class matches a [class]; one without an end goes to the end of the pattern.
func class(pattern string, c byte) (width int, ok bool) {
	i, negated := 1, false
	if i < len(pattern) && pattern[i] == '^' {
		negated = true
		i++
	}
	found := false
	for i < len(pattern) && pattern[i] != ']' {
		low := pattern[i]
		switch {
		case low == '\\' && i+1 < len(pattern):
			low = pattern[i+1]
			found = found || low == c
			i += 2
		case i+2 < len(pattern) && pattern[i+1] == '-':
			high := pattern[i+2]
			found = found || min(low, high) <= c && c <= max(low, high)
			i += 3
		default:
			found = found || low == c
			i++
		}
	}
	return min(i+1, len(pattern)), found != negated
}
