package exec

// The LZF form is a row of tokens. A byte below 32 says that one more than that
// many bytes follow as they are. Any other one is a reference: its highest three
// bits are the length less 2, where 7 says that a byte to be added follows; its
// low five bits and the next byte are the distance back less 1.
const (
	// maxExpansion bounds how much longer a plain text may be: three bytes can
	// stand for 264.
	maxExpansion = 264 / 3

	longReference = 7
)

// unpack decodes src into dst, which has the length of the plain text, and
// reports whether src was just that.
func unpack(dst, src []byte) bool {
	n := 0
	for len(src) > 0 {
		token := int(src[0])
		src = src[1:]
		var ok bool
		if token < 32 {
			n, src, ok = literal(dst, n, src, token+1)
		} else {
			n, src, ok = reference(dst, n, src, token)
		}
		if !ok {
			return false
		}
	}
	return n == len(dst)
}

// literal copies count bytes.
func literal(dst []byte, n int, src []byte, count int) (int, []byte, bool) {
	if count > len(src) || count > len(dst)-n {
		return n, nil, false
	}
	return n + copy(dst[n:], src[:count]), src[count:], true
}

// reference copies what stands further in front; it may overlap what it writes.
func reference(dst []byte, n int, src []byte, token int) (int, []byte, bool) {
	count := token >> 5
	if count == longReference && len(src) > 0 {
		count += int(src[0])
		src = src[1:]
	}
	if len(src) == 0 {
		return n, nil, false
	}
	count += 2
	from := n - (token&0x1f)<<8 - int(src[0]) - 1
	if from < 0 || count > len(dst)-n {
		return n, nil, false
	}
	for range count {
		dst[n] = dst[from]
		n, from = n+1, from+1
	}
	return n, src[1:], true
}
