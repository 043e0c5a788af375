package memory

import (
	"testing"

	"github.com/tiergrid/tiergrid/tiers"
)

func BenchmarkSet100(b *testing.B) {
	m, err := New(Config{MaxSize: 64 << 20})
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	var batch tiers.Batch
	key, value := make([]byte, 30), make([]byte, 100)
	b.ReportAllocs()
	for i := range b.N {
		key[0], key[1], key[2] = byte(i), byte(i>>8), byte(i>>16)
		batch.Reset()
		batch.Set(key, value)
		if _, err := m.Apply(&batch, false); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet100(b *testing.B) {
	m, err := New(Config{MaxSize: 64 << 20})
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	key, value := make([]byte, 30), make([]byte, 100)
	m.set(key, value)
	sum := 0
	fn := func(v []byte) { sum += len(v) }
	b.ReportAllocs()
	for range b.N {
		if ok, err := m.Get(key, fn); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
