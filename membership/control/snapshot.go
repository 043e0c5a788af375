package control

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/tiergrid/tiergrid/membership/topology"
)

// A snapshot, all numbers little-endian:
//
//	"TGCS" | format 4 | body length 8 | body | CRC32C 4
//
// The body is the state, field by field; equal states have equal snapshots, byte
// for byte. The checksum covers everything before it.
const (
	snapshotMagic  = "TGCS"
	snapshotFormat = 1
	snapshotHead   = 16
)

// Snapshot returns the whole state in bytes.
func (s *State) Snapshot() []byte {
	e := encoder{b: make([]byte, snapshotHead, 4096)}
	s.encode(&e)
	copy(e.b, snapshotMagic)
	binary.LittleEndian.PutUint32(e.b[4:], snapshotFormat)
	binary.LittleEndian.PutUint64(e.b[8:], uint64(len(e.b)-snapshotHead))
	return binary.LittleEndian.AppendUint32(e.b, crc32.Checksum(e.b, castagnoli))
}

// Restore is the inverse of Snapshot. It never panics; its errors are ErrDamaged
// and ErrNewer.
func Restore(b []byte) (*State, error) {
	if len(b) < snapshotHead+4 || len(b) > MaxSnapshot || string(b[:4]) != snapshotMagic {
		return nil, fmt.Errorf("%w: this is no snapshot", ErrDamaged)
	}
	if f := binary.LittleEndian.Uint32(b[4:]); f != snapshotFormat {
		return nil, fmt.Errorf("%w: snapshot format %d", ErrNewer, f)
	}
	body, sum := b[snapshotHead:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if binary.LittleEndian.Uint64(b[8:]) != uint64(len(body)) || crc32.Checksum(b[:len(b)-4], castagnoli) != sum {
		return nil, fmt.Errorf("%w: snapshot length or checksum", ErrDamaged)
	}
	d := decoder{b: body}
	s := decodeState(&d)
	if err := d.end(); err != nil {
		return nil, fmt.Errorf("%w: snapshot: %w", ErrDamaged, err)
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("%w: snapshot: %w", ErrDamaged, err)
	}
	return s, nil
}

func (s *State) encode(e *encoder) {
	e.uint(s.Index)
	e.uint(s.UsersIndex)
	e.uint(s.LastIncarnation)
	e.uint(uint64(s.LastCache))
	e.uint(uint64(s.LastGroup))
	e.id(s.Cluster.ID)
	e.text(s.Cluster.Name)
	e.id(s.Cluster.HashKey)
	e.time(s.Cluster.Created)
	encodeList(e, s.Members, encodeMember)
	encodeList(e, s.Templates, encodeTemplate)
	encodeList(e, s.Groups, s.encodeGroup)
	encodeList(e, s.Caches, encodeCache)
	encodeList(e, s.Users, encodeUser)
}

func decodeState(d *decoder) *State {
	s := &State{Index: d.uint(), UsersIndex: d.uint(), LastIncarnation: d.uint()}
	s.LastCache, s.LastGroup = topology.CacheID(d.uint32()), topology.GroupID(d.uint32())
	s.Cluster = Cluster{d.id(), d.text(MaxName), d.id(), d.time()}
	s.Members = decodeList(d, MaxMembers, decodeMember)
	s.Templates = decodeList(d, MaxTemplates, decodeTemplate)
	s.Groups = decodeList(d, MaxGroups, s.decodeGroup)
	s.Caches = decodeList(d, MaxCaches, decodeCache)
	s.Users = decodeList(d, MaxUsers, decodeUser)
	return s
}

func encodeList[T any](e *encoder, list []T, each func(*encoder, T)) {
	e.uint(uint64(len(list)))
	for _, v := range list {
		each(e, v)
	}
}

func decodeList[T any](d *decoder, limit int, each func(*decoder) T) []T {
	n := d.count(limit)
	if n == 0 {
		return nil
	}
	var list []T
	for range n {
		if d.err != nil {
			return nil
		}
		list = append(list, each(d))
	}
	return list
}

func encodeMember(e *encoder, m Member) {
	e.text(m.Name)
	e.text(m.StoreID)
	e.uint(m.Incarnation)
	e.text(m.Zone)
	e.text(m.Version)
	e.bool(m.Clean)
	e.time(m.Registered)
}

func decodeMember(d *decoder) Member {
	return Member{d.text(MaxName), d.text(MaxName), d.uint(), d.text(MaxName), d.text(MaxName), d.bool(), d.time()}
}

func encodeTemplate(e *encoder, t Template) {
	e.text(t.Name)
	encodePolicy(e, t.Policy)
	e.time(t.Altered)
}

func decodeTemplate(d *decoder) Template {
	return Template{d.text(MaxName), decodePolicy(d), d.time()}
}

func encodeCache(e *encoder, c Cache) {
	e.uint(uint64(c.ID))
	e.text(c.Name)
	e.int(int64(c.Database))
	e.text(c.Template)
	e.uint(uint64(c.Group))
	encodePolicy(e, c.Policy)
	e.int(int64(c.Home))
	e.bool(c.Automatic)
	e.time(c.Created)
	e.time(c.Altered)
}

func decodeCache(d *decoder) Cache {
	return Cache{
		Cache: topology.Cache{
			ID: topology.CacheID(d.uint32()), Name: d.text(MaxName), Database: int(d.int()), Template: d.text(MaxName),
			Group: topology.GroupID(d.uint32()), Policy: decodePolicy(d),
		},
		Home: int(d.int()), Automatic: d.bool(), Created: d.time(), Altered: d.time(),
	}
}

func encodeUser(e *encoder, u User) {
	e.text(u.Name)
	e.text(u.Hash)
	e.texts(u.Roles)
	e.time(u.Created)
	e.time(u.Altered)
}

func decodeUser(d *decoder) User {
	return User{d.text(MaxName), d.text(maxHash), d.texts(MaxRoles, MaxName), d.time(), d.time()}
}

// encodeGroup names members by their place in s.Members.
func (s *State) encodeGroup(e *encoder, g topology.Group) {
	e.uint(uint64(g.ID))
	e.text(g.Mode)
	e.uint(uint64(g.Owners))
	e.text(g.Replication)
	for _, u := range g.Units {
		e.uint(uint64(u.Epoch))
		e.uint(u.ISRVersion)
		e.uint(s.memberPlace(u.Primary))
		encodeList(e, u.Owners, func(e *encoder, name string) { e.uint(s.memberPlace(name)) })
		encodeList(e, u.ISR, func(e *encoder, name string) { e.uint(s.memberPlace(name)) })
	}
}

func (s *State) decodeGroup(d *decoder) topology.Group {
	g := topology.Group{ID: topology.GroupID(d.uint32()), Mode: d.text(MaxName), Owners: int(d.uint32()), Replication: d.text(MaxName)}
	if d.err != nil {
		return g
	}
	g.Units = make([]topology.Unit, topology.Partitions)
	for i := range g.Units {
		g.Units[i] = topology.Unit{
			Epoch: d.uint32(), ISRVersion: d.uint(), Primary: s.memberAt(d),
			Owners: decodeList(d, MaxMembers, s.memberAt), ISR: decodeList(d, MaxMembers, s.memberAt),
		}
	}
	return g
}

// memberPlace is 1 + the index of a member, or 0 for none.
func (s *State) memberPlace(name string) uint64 {
	i, found := find(s.Members, name, memberName)
	if !found {
		return 0
	}
	return uint64(i) + 1
}

func (s *State) memberAt(d *decoder) string {
	place := d.uint()
	if place > uint64(len(s.Members)) {
		d.fail("member")
		return ""
	}
	if place == 0 {
		return ""
	}
	return s.Members[place-1].Name
}

// check reports what a snapshot must never hold, whatever its checksum says: the
// rest of the package relies on it.
func (s *State) check() error {
	switch {
	case !sorted(s.Members, memberName) || !sorted(s.Templates, templateName) || !sorted(s.Users, userName):
		return fmt.Errorf("%w: names out of order", ErrBadEntry)
	case !ascending(s.Caches, func(c Cache) uint64 { return uint64(c.ID) }, uint64(s.LastCache)):
		return fmt.Errorf("%w: cache ids", ErrBadEntry)
	case !ascending(s.Groups, func(g topology.Group) uint64 { return uint64(g.ID) }, uint64(s.LastGroup)):
		return fmt.Errorf("%w: group ids", ErrBadEntry)
	case s.UsersIndex > s.Index:
		return fmt.Errorf("%w: index of the users", ErrBadEntry)
	case s.Bootstrapped() != (len(s.Templates) > 0):
		return fmt.Errorf("%w: templates without a cluster id", ErrBadEntry)
	}
	return s.checkCaches()
}

// checkCaches holds that names and database numbers are given once, that every
// cache is in the group of its policy, and that there is a default template.
func (s *State) checkCaches() error {
	if _, found := s.Template(DefaultTemplate); s.Bootstrapped() && !found {
		return fmt.Errorf("%w: no template %s", ErrBadEntry, DefaultTemplate)
	}
	names, numbered := map[string]bool{}, map[int]bool{}
	for i := range s.Caches {
		c := &s.Caches[i]
		g, found := s.group(c.Group)
		switch {
		case names[c.Name] || checkCacheName(c.Name) != nil:
			return fmt.Errorf("%w: cache name %q", ErrBadEntry, c.Name)
		case c.Database < topology.NoDatabase || c.Database >= topology.Databases || numbered[c.Database]:
			return fmt.Errorf("%w: database of cache %s", ErrBadEntry, c.Name)
		case !found || placementOf(c.Policy) != groupPlacement(g):
			return fmt.Errorf("%w: group of cache %s", ErrBadEntry, c.Name)
		}
		names[c.Name] = true
		numbered[c.Database] = c.Database != topology.NoDatabase
	}
	return nil
}

func sorted[T any](list []T, name func(T) string) bool {
	for i := 1; i < len(list); i++ {
		if name(list[i-1]) >= name(list[i]) {
			return false
		}
	}
	return true
}

// ascending reports whether ids are distinct, in order, above 0 and at most last.
func ascending[T any](list []T, id func(T) uint64, last uint64) bool {
	before := uint64(0)
	for _, v := range list {
		if id(v) <= before {
			return false
		}
		before = id(v)
	}
	return before <= last
}
