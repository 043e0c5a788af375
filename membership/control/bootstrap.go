package control

import (
	"fmt"
	"strconv"
	"time"

	"github.com/tiergrid/tiergrid/membership/topology"
)

// DefaultTemplate is the template of the databases 0 to 15, and of every cache
// that names none.
const DefaultTemplate = "default"

// Bootstrap gives a grid its identity, the template "default" and the databases
// 0 to 15 (R28). Users may exist before it, nothing else does.
type Bootstrap struct {
	ClusterID [16]byte
	Name      string
	HashKey   [16]byte
	Default   Change // the template "default", over topology.DefaultPolicy
}

func (Bootstrap) kind() kind { return kindBootstrap }

func (b Bootstrap) validate() error { return checkName("cluster", b.Name) }

func (b Bootstrap) encode(e *encoder) {
	e.id(b.ClusterID)
	e.text(b.Name)
	e.id(b.HashKey)
	encodePolicy(e, b.Default.Over(topology.DefaultPolicy()))
}

func decodeBootstrap(d *decoder) Entry {
	return Bootstrap{d.id(), d.text(MaxName), d.id(), Whole(decodePolicy(d))}
}

func (b Bootstrap) apply(s *State, at time.Time) error {
	if s.Bootstrapped() {
		return fmt.Errorf("cluster %s is %w", s.Cluster.Name, ErrBootstrapped)
	}
	if b.ClusterID == [16]byte{} || b.HashKey == [16]byte{} {
		return fmt.Errorf("cluster id or hash key of zeros: %w", ErrInvalid)
	}
	if err := checkName("cluster", b.Name); err != nil {
		return err
	}
	policy := b.Default.Over(topology.DefaultPolicy())
	if err := checkPolicy(policy); err != nil {
		return fmt.Errorf("template %s: %w", DefaultTemplate, err)
	}
	s.Cluster = Cluster{b.ClusterID, b.Name, b.HashKey, at}
	s.Templates = []Template{{DefaultTemplate, policy, at}}
	for n := range topology.Databases {
		if err := s.addCache(automatic(n, strconv.Itoa(n), policy, at)); err != nil {
			return err
		}
	}
	return nil
}
