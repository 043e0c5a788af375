package resp

// parseInline reads one line and splits it. more means that the line is not
// complete; neither done nor more that it was empty.
func (r *Reader) parseInline() (done, more bool, err error) {
	line, err := r.line('\n', 0, errInlineSize)
	if line == nil {
		return false, true, err
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if !r.splitInline(line) {
		return false, false, errQuotes
	}
	n := r.args.count()
	if n == 0 {
		return false, false, nil
	}
	r.size = len(line) + n*argOverhead
	r.live = true
	return true, false, nil
}

// splitInline adds the words of line to the arguments, by the rules of Redis's
// configuration files and inline commands: words are separated by blanks;
// parts of them may be quoted, in double quotes with the escapes \n \r \t \b \a
// \xHH and \c for any other c, in single quotes with \' alone; a closing quote
// must end the word. False means that quotes are unbalanced. Words are decoded
// in place, as they never get longer.
func (r *Reader) splitInline(line []byte) bool {
	for {
		for len(line) > 0 && isSpace(line[0]) {
			line = line[1:]
		}
		if len(line) == 0 {
			return true
		}
		n, used, ok := decodeWord(line)
		if !ok {
			r.args.drop()
			return false
		}
		r.args.add(line[:n:n])
		line = line[used:]
	}
}

// decodeWord decodes the word at the start of line into line[:n] and returns
// how many bytes it was encoded in.
func decodeWord(line []byte) (n, used int, ok bool) {
	for i := 0; i < len(line); {
		switch c := line[i]; c {
		case ' ', '\n', '\r', '\t':
			return n, i, true
		case '"', '\'':
			n, used, ok = decodeQuoted(line, n, i+1, c)
			if !ok || used < len(line) && !isSpace(line[used]) {
				return 0, 0, false
			}
			return n, used, true
		default:
			line[n] = c
			n++
			i++
		}
	}
	return n, len(line), true
}

// decodeQuoted decodes line[i:] up to the closing quote behind line[:n].
func decodeQuoted(line []byte, n, i int, quote byte) (int, int, bool) {
	for i < len(line) {
		c, width := line[i], 1
		switch {
		case c == quote:
			return n, i + 1, true
		case c != '\\':
		case quote == '"':
			c, width = decodeEscape(line[i:])
		case i+1 < len(line) && line[i+1] == '\'':
			c, width = '\'', 2
		}
		line[n] = c
		n++
		i += width
	}
	return 0, 0, false
}

// decodeEscape decodes the escape at the start of b, which begins with a
// backslash. A backslash at the very end stands for itself.
func decodeEscape(b []byte) (c byte, width int) {
	if len(b) < 2 {
		return b[0], 1
	}
	if len(b) >= 4 && b[1] == 'x' {
		high, low := hexDigit(b[2]), hexDigit(b[3])
		if high >= 0 && low >= 0 {
			return byte(high<<4 | low), 4
		}
	}
	switch b[1] {
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'b':
		return '\b', 2
	case 'a':
		return '\a', 2
	}
	return b[1], 2
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// isSpace is C's isspace, which Redis uses between words.
func isSpace(c byte) bool {
	return c == ' ' || c >= '\t' && c <= '\r'
}
