package control

import (
	"fmt"
	"time"

	"github.com/tiergrid/tiergrid/membership/topology"
)

// Template is a named policy that caches are made from. Altering it does not
// alter the caches made from it before.
type Template struct {
	Name    string
	Policy  topology.Policy
	Altered time.Time
}

func templateName(t Template) string { return t.Name }

// Template returns the template of that name; "" is the default one.
func (s *State) Template(name string) (Template, bool) {
	if name == "" {
		name = DefaultTemplate
	}
	i, found := find(s.Templates, name, templateName)
	if !found {
		return Template{}, false
	}
	return s.Templates[i], true
}

// CreateTemplate makes a template from the built-in defaults and a change.
type CreateTemplate struct {
	Name     string
	Change   Change
	IfAbsent bool // leave an existing template as it is
}

func (CreateTemplate) kind() kind { return kindCreateTemplate }

func (c CreateTemplate) validate() error { return checkName("template", c.Name) }

func (c CreateTemplate) encode(e *encoder) {
	e.text(c.Name)
	encodePolicy(e, c.Change.Over(topology.DefaultPolicy()))
	e.bool(c.IfAbsent)
}

func decodeCreateTemplate(d *decoder) Entry {
	return CreateTemplate{d.text(MaxName), Whole(decodePolicy(d)), d.bool()}
}

func (c CreateTemplate) apply(s *State, at time.Time) error {
	if !s.Bootstrapped() {
		return ErrNotBootstrapped
	}
	if err := checkName("template", c.Name); err != nil {
		return err
	}
	if _, found := s.Template(c.Name); found {
		if c.IfAbsent {
			return errUnchanged
		}
		return fmt.Errorf("template %s %w", c.Name, ErrExists)
	}
	if len(s.Templates) >= MaxTemplates {
		return fmt.Errorf("%w: %d templates", ErrFull, MaxTemplates)
	}
	return s.putTemplate(c.Name, c.Change.Over(topology.DefaultPolicy()), at)
}

// AlterTemplate changes values of a template, for caches made from then on.
type AlterTemplate struct {
	Name   string
	Change Change
}

func (AlterTemplate) kind() kind { return kindAlterTemplate }

func (a AlterTemplate) validate() error { return checkName("template", a.Name) }

func (a AlterTemplate) encode(e *encoder) {
	e.text(a.Name)
	a.Change.encode(e)
}

func decodeAlterTemplate(d *decoder) Entry { return AlterTemplate{d.text(MaxName), decodeChange(d)} }

func (a AlterTemplate) apply(s *State, at time.Time) error {
	have, found := s.Template(a.Name)
	if !found {
		return fmt.Errorf("template %s %w", a.Name, ErrNotFound)
	}
	policy := a.Change.Over(have.Policy)
	if policy == have.Policy {
		return errUnchanged
	}
	return s.putTemplate(have.Name, policy, at)
}

// RemoveTemplate removes a template; the caches made from it stay.
type RemoveTemplate struct{ Name string }

func (RemoveTemplate) kind() kind { return kindRemoveTemplate }

func (r RemoveTemplate) validate() error { return checkName("template", r.Name) }

func (r RemoveTemplate) encode(e *encoder) { e.text(r.Name) }

func decodeRemoveTemplate(d *decoder) Entry { return RemoveTemplate{d.text(MaxName)} }

func (r RemoveTemplate) apply(s *State, _ time.Time) error {
	i, found := find(s.Templates, r.Name, templateName)
	if !found {
		return fmt.Errorf("template %s %w", r.Name, ErrNotFound)
	}
	if r.Name == DefaultTemplate {
		return fmt.Errorf("template %s %w: databases are made from it", r.Name, ErrAutomatic)
	}
	s.Templates = drop(s.Templates, i)
	return nil
}

func (s *State) putTemplate(name string, policy topology.Policy, at time.Time) error {
	if err := checkPolicy(policy); err != nil {
		return fmt.Errorf("template %s: %w", name, err)
	}
	s.Templates = put(s.Templates, Template{name, policy, at}, templateName)
	return nil
}
