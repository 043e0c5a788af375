package server_test

import "bytes"

// sink is a client's connection that takes now all of a reply, now half of it, now
// nothing.
type sink struct {
	bytes.Buffer
	calls int
}

func (s *sink) TryWrite(p []byte) (int, error) {
	s.calls++
	return s.Write(p[:len(p)*(s.calls%3)/2])
}

func (s *sink) TryWriteBuffers(pieces [][]byte) (int, error) {
	return s.TryWrite(bytes.Join(pieces, nil))
}

func (s *sink) WriteBuffers(pieces [][]byte) (int64, error) {
	n, err := s.Write(bytes.Join(pieces, nil))
	return int64(n), err
}
