package control

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
)

var errInjected = errors.New("injected fault")

// memoryFiles is a directory in memory that knows what a power failure leaves:
// the synced bytes of the files whose names were synced. The log calls it one
// operation at a time.
type memoryFiles struct {
	names   map[string]*memoryFile
	durable map[string]*memoryFile // the names as of the last sync

	// fault is asked before every operation, which is one of read, create, open,
	// rename, remove, syncdir, write, truncate, sync; an error is the outcome.
	fault func(operation, name string) error
}

type memoryFile struct {
	dir             *memoryFiles
	name            string
	content, synced []byte
}

func newMemoryFiles() *memoryFiles {
	return &memoryFiles{names: map[string]*memoryFile{}, durable: map[string]*memoryFile{}}
}

func (m *memoryFiles) begin(operation, name string) error {
	if m.fault == nil {
		return nil
	}
	return m.fault(operation, name)
}

func (m *memoryFiles) read(name string) ([]byte, error) {
	f, found := m.names[name]
	if !found {
		return nil, fs.ErrNotExist
	}
	return slices.Clone(f.content), m.begin("read", name)
}

func (m *memoryFiles) create(name string) (file, error) {
	if err := m.begin("create", name); err != nil {
		return nil, err
	}
	f := &memoryFile{dir: m, name: name}
	m.names[name] = f
	return f, nil
}

func (m *memoryFiles) open(name string) (file, error) {
	f, found := m.names[name]
	if !found {
		return nil, fs.ErrNotExist
	}
	return f, m.begin("open", name)
}

func (m *memoryFiles) rename(from, to string) error {
	if err := m.begin("rename", to); err != nil {
		return err
	}
	m.names[to] = m.names[from]
	m.names[to].name = to
	delete(m.names, from)
	return nil
}

func (m *memoryFiles) remove(name string) error {
	if err := m.begin("remove", name); err != nil {
		return err
	}
	delete(m.names, name)
	return nil
}

func (m *memoryFiles) sync() error {
	if err := m.begin("syncdir", ""); err != nil {
		return err
	}
	m.durable = maps.Clone(m.names)
	return nil
}

// WriteAt writes half of what it should where the fault is a torn write.
func (f *memoryFile) WriteAt(b []byte, at int64) (int, error) {
	err := f.dir.begin("write", f.name)
	if err != nil {
		b = b[:len(b)/2]
	}
	if end := int(at) + len(b); end > len(f.content) {
		f.content = append(f.content, make([]byte, end-len(f.content))...)
	}
	copy(f.content[at:], b)
	return len(b), err
}

func (f *memoryFile) Truncate(size int64) error {
	if err := f.dir.begin("truncate", f.name); err != nil {
		return err
	}
	f.content = f.content[:size:size]
	return nil
}

func (f *memoryFile) Sync() error {
	if err := f.dir.begin("sync", f.name); err != nil {
		return err
	}
	f.synced = slices.Clone(f.content)
	return nil
}

func (f *memoryFile) Close() error { return nil }

// afterCrash is the directory as a power failure leaves it. With kept the names
// and bytes that were not synced have made it to the disk all the same.
func (m *memoryFiles) afterCrash(kept bool) *memoryFiles {
	after := newMemoryFiles()
	names := m.durable
	if kept {
		names = m.names
	}
	for name, f := range names {
		content := f.synced
		if kept {
			content = f.content
		}
		after.names[name] = &memoryFile{dir: after, name: name, content: slices.Clone(content), synced: slices.Clone(content)}
	}
	after.durable = maps.Clone(after.names)
	return after
}
