package resp

import (
	"testing"

	"pgregory.net/rapid"
)

func TestClassesCoverAllSizes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 1<<maxClassShift).Draw(t, "n")
		class := classOf(n)
		if size := classSize(class); size < n || n > 1<<minClassShift && size > n+n/4+1 {
			t.Fatalf("%d bytes got class %d of %d", n, class, size)
		}
		if class > 0 && classSize(class-1) >= n {
			t.Fatalf("%d bytes would fit in class %d", n, class-1)
		}
	})
}

func TestClassSizesAreTheirOwnClass(t *testing.T) {
	for class := range numClasses {
		size := classSize(class)
		if classOf(size) != class {
			t.Errorf("class %d of %d bytes: classOf gives %d", class, size, classOf(size))
		}
		if class > 0 && size <= classSize(class-1) {
			t.Errorf("class %d is no larger than the one before", class)
		}
	}
	if got := classOf(classSize(numClasses-1) + 1); got != classNone {
		t.Errorf("beyond the last class: %d", got)
	}
}

func TestBufferGauges(t *testing.T) {
	count, bytes := BuffersInUse()
	var bufs []*Buffer
	want := int64(0)
	for _, n := range []int{0, 1, 1024, 1025, 70000, 3 << 20} {
		b := GetBuffer(n)
		if len(b.B) != 0 || cap(b.B) < n {
			t.Errorf("asked for %d: length %d, capacity %d", n, len(b.B), cap(b.B))
		}
		want += int64(cap(b.B))
		bufs = append(bufs, b)
	}
	c, n := BuffersInUse()
	if c-count != int64(len(bufs)) || n-bytes != want {
		t.Errorf("%d buffers of %d bytes in use, want %d of %d", c-count, n-bytes, len(bufs), want)
	}
	for _, b := range bufs {
		b.B = append(b.B[:cap(b.B)], "beyond"...) // the owner may replace B
		b.Release()
	}
	if c, n := BuffersInUse(); c != count || n != bytes {
		t.Errorf("after Release: %d buffers of %d bytes", c-count, n-bytes)
	}
}

func TestReleaseTwicePanics(t *testing.T) {
	b := GetBuffer(classSize(numClasses-1) + 1) // of no pool: nobody else gets it meanwhile
	b.Release()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	b.Release()
}

func TestReleaseOfNil(t *testing.T) {
	before, _ := BuffersInUse()
	(*Buffer)(nil).Release()
	if after, _ := BuffersInUse(); after != before {
		t.Errorf("%d buffers in use, were %d", after, before)
	}
}

func fakeBuffer(class int) *Buffer {
	return &Buffer{mem: make([]byte, 100*(class+1)), class: int8(class)}
}

func TestLargePoolIsBounded(t *testing.T) {
	p := largePool{limit: 1000}
	for range 20 {
		p.put(fakeBuffer(0))
	}
	p.put(fakeBuffer(3))
	if got := p.retained(); got != 1000 {
		t.Errorf("%d bytes retained", got)
	}
	if p.take(3) == nil || p.take(3) != nil || p.take(0) == nil {
		t.Error("take does not find what was put last")
	}
	p.put(fakeBuffer(10)) // larger than the limit
	if got := p.retained(); got != 500 {
		t.Errorf("%d bytes retained", got)
	}
}

func TestTrimDropsWhatWasNotWanted(t *testing.T) {
	p := largePool{limit: 1000}
	for range 5 {
		p.put(fakeBuffer(0))
	}
	p.trim()
	busy := p.take(0)
	if got := p.retained(); got != 400 {
		t.Errorf("%d bytes after the first trim", got)
	}
	p.put(busy)
	p.trim()
	if got := p.retained(); got != 100 {
		t.Errorf("%d bytes after the second trim", got)
	}
	p.trim()
	if got := p.retained(); got != 0 {
		t.Errorf("%d bytes after the third trim", got)
	}
}

func TestRetainedGauge(t *testing.T) {
	TrimBuffers()
	TrimBuffers()
	b := GetBuffer(5 << 20)
	size := int64(cap(b.B))
	b.Release()
	if got := BuffersRetained(); got != size {
		t.Errorf("%d bytes retained, want %d", got, size)
	}
	TrimBuffers()
	TrimBuffers()
	if got := BuffersRetained(); got != 0 {
		t.Errorf("%d bytes retained after trims", got)
	}
}
