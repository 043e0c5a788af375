package session

import (
	"errors"
	"strings"

	"github.com/tiergrid/tiergrid/node/command"
)

// Reasons for a CONFIG SET that fails.
var (
	errNotParsed = errors.New("argument couldn't be parsed into an integer")
	errImmutable = errors.New("can't set immutable config")
	errDuplicate = errors.New("duplicate parameter")
)

func (s *session) configGet(args [][]byte) {
	list := s.srv.settings.matching(args[2:])
	s.out.Map(len(list))
	for _, found := range list {
		s.out.BulkString(found.shown)
		s.out.BulkString(found.Get())
	}
}

// change is one pair of CONFIG SET.
type change struct {
	setting Setting
	value   string
	before  string
}

// configSet changes all the settings or none.
func (s *session) configSet(args [][]byte) {
	pairs := args[2:]
	if len(pairs)%2 != 0 {
		s.fail(command.ErrSyntax)
		return
	}
	s.srv.settings.changes.Lock()
	defer s.srv.settings.changes.Unlock()
	changes, why := s.srv.settings.plan(pairs)
	if why == "" {
		why = apply(changes)
	}
	if why != "" {
		s.fail(why)
		return
	}
	s.ok()
}

// plan finds the settings of a CONFIG SET.
func (r *Settings) plan(pairs [][]byte) ([]change, command.Error) {
	var changes []change
	failed := command.Error("")
	for i := 0; i < len(pairs); i += 2 {
		setting, ok := r.lookup(string(pairs[i]))
		if !ok {
			return nil, command.UnknownSetting(pairs[i])
		}
		reason := error(nil)
		if setting.Set == nil {
			reason = errImmutable
		}
		for _, other := range changes {
			if other.setting.Name == setting.Name {
				reason = errDuplicate
			}
		}
		if reason != nil && failed == "" {
			failed = command.SettingFailed(strings.ToLower(string(pairs[i])), reason.Error())
		}
		changes = append(changes, change{setting: setting, value: string(pairs[i+1])})
	}
	return changes, failed
}

// apply makes the changes, and takes them back when one fails.
func apply(changes []change) command.Error {
	for i := range changes {
		c := &changes[i]
		c.before = c.setting.Get()
		err := c.setting.Set(c.value)
		if err == nil {
			continue
		}
		for j := range i {
			// What it was before is acceptable, or it could not have been.
			_ = changes[j].setting.Set(changes[j].before)
		}
		return command.SettingFailed(c.setting.Name, err.Error())
	}
	return ""
}

func (s *session) configResetStat([][]byte) {
	s.srv.stats.reset()
	s.ok()
}
