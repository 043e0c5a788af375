package session

import (
	"runtime/metrics"
	"sync"
	"time"

	"github.com/tiergrid/tiergrid/membership/users"
)

const (
	tickEvery  = 100 * time.Millisecond
	ticksPerIn = 10 // ticks between two looks at all sessions
)

// keep runs until the Server is closed: it moves the clock, measures rates, and
// closes sessions that have been idle for too long or whose user is gone.
func (srv *Server) keep() {
	defer srv.keeper.Done()
	ticker := time.NewTicker(tickEvery)
	defer ticker.Stop()
	known := srv.auth.Users()
	for n := 0; ; n++ {
		select {
		case now := <-ticker.C:
			srv.tick(now)
		case <-srv.stop:
			return
		}
		if n%ticksPerIn == 0 {
			srv.closeIdle()
			known = srv.closeRevoked(known)
			srv.samplePeak()
		}
	}
}

func (srv *Server) tick(now time.Time) {
	srv.clock.Store(now.UnixMilli())
	srv.rate.sample(now, srv.stats.processed(), srv.stats.bytesIn.Load(), srv.stats.bytesOut.Load())
}

// closeIdle closes sessions whose client has sent nothing for the idle timeout.
// Monitors are meant to be silent.
func (srv *Server) closeIdle() {
	limit := srv.idleTimeout.Load() * 1000
	if limit == 0 {
		return
	}
	oldest := srv.now() - limit
	for _, s := range srv.clients() {
		if s.shown.lastSeen.Load() < oldest && !s.shown.running.Load() && s.shown.flags.Load()&flagMonitor == 0 {
			s.kill()
		}
	}
}

// closeRevoked closes the sessions of users that are gone since known, and
// returns the present users. A session that is sent a command before notices by
// itself.
func (srv *Server) closeRevoked(known *users.Directory) *users.Directory {
	present := srv.auth.Users()
	if present == known {
		return known
	}
	for _, s := range srv.clients() {
		name := []byte(s.user())
		if known.User(name) != nil && present.User(name) == nil {
			s.kill()
		}
	}
	return present
}

// heapMetric is how many bytes objects on the heap take, read without stopping
// the world.
const heapMetric = "/memory/classes/heap/objects:bytes"

func usedMemory() uint64 {
	sample := []metrics.Sample{{Name: heapMetric}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func (srv *Server) samplePeak() {
	if used := usedMemory(); used > srv.peakMemory.Load() {
		srv.peakMemory.Store(used)
	}
}

// rateMeter averages what was counted per second over the last samples.
type rateMeter struct {
	mu     sync.Mutex
	last   time.Time
	totals [3]int64
	rates  [rateSamples][3]int64
	next   int
}

const rateSamples = 16

// sample takes new totals. A total that fell was reset.
func (m *rateMeter) sample(now time.Time, totals ...int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	elapsed := now.Sub(m.last).Microseconds()
	if !m.last.IsZero() && elapsed > 0 {
		for i, total := range totals {
			m.rates[m.next][i] = max(0, total-m.totals[i]) * 1e6 / elapsed
		}
		m.next = (m.next + 1) % rateSamples
	}
	m.last = now
	copy(m.totals[:], totals)
}

func (m *rateMeter) average(of int) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	sum := int64(0)
	for i := range m.rates {
		sum += m.rates[i][of]
	}
	return sum / rateSamples
}

func (m *rateMeter) commands() int64 { return m.average(0) }
func (m *rateMeter) bytesIn() int64  { return m.average(1) }
func (m *rateMeter) bytesOut() int64 { return m.average(2) }
