package ssd

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
)

// maxSuspects bounds the rows remembered as damaged. Beyond it nothing more is
// remembered, which costs CPU, see suspects.
const maxSuspects = 1024

// errSuspect is returned for a row known to be damaged while another read of
// such a row is under way.
var errSuspect = errors.New("the row is damaged")

// suspects are rows whose last read met damage. Pebble looks for a single
// flipped bit in a damaged block by trying all of them, which takes seconds of
// CPU for a large value; a client that repeats its read could so take a whole
// node. So of all reads of suspects only one runs at a time. A row that can be
// read again, because it was overwritten, is no longer suspect.
type suspects struct {
	count   atomic.Int32
	mu      sync.Mutex
	rows    map[string]struct{} // guarded by mu
	reading sync.Mutex
}

// has reports whether the row is suspect; without any it is one load.
func (p *suspects) has(key []byte) bool {
	if p.count.Load() == 0 {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, found := p.rows[string(key)]
	return found
}

func (p *suspects) add(key []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rows == nil {
		p.rows = map[string]struct{}{}
	}
	if len(p.rows) < maxSuspects {
		p.rows[string(key)] = struct{}{}
	}
	p.count.Store(int32(len(p.rows)))
}

func (p *suspects) remove(key []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.rows, string(key))
	p.count.Store(int32(len(p.rows)))
}

// getSuspect is Get for a row that was damaged.
func (s *Store) getSuspect(key []byte, fn func([]byte)) (bool, error) {
	if !s.suspects.reading.TryLock() {
		return false, fmt.Errorf("ssd: read: %w", errSuspect)
	}
	defer s.suspects.reading.Unlock()
	found, err := s.get(key, fn)
	if err == nil {
		s.suspects.remove(key)
	}
	return found, err
}

// readError reports what a read met: damage, unless the operating system says
// otherwise.
func (s *Store) readError(key []byte, err error) error {
	var number syscall.Errno
	if errors.As(err, &number) {
		s.warn(&s.events.errors, Event{Kind: BackgroundError, Err: err})
	} else {
		s.suspects.add(key)
		s.warn(&s.events.corruptions, Event{Kind: Corruption, Err: err})
	}
	return fmt.Errorf("ssd: read: %w", err)
}
