package session

import (
	"github.com/tiergrid/tiergrid/node/command"
)

// printable reports whether a name has only visible ASCII and no blanks.
func printable(name []byte) bool {
	for _, c := range name {
		if c < '!' || c > '~' {
			return false
		}
	}
	return true
}

// name is what the client calls itself.
func (s *session) name() string {
	s.labels.Lock()
	defer s.labels.Unlock()
	return s.labels.name
}

// user is who the client is logged in as.
func (s *session) user() string {
	s.labels.Lock()
	defer s.labels.Unlock()
	return s.labels.user
}

func (s *session) setName(name string) {
	s.labels.Lock()
	defer s.labels.Unlock()
	s.labels.name = name
}

func (s *session) clientSetName(args [][]byte) {
	if !printable(args[2]) {
		s.fail(command.ErrClientName)
		return
	}
	s.setName(string(args[2]))
	s.ok()
}

func (s *session) clientGetName([][]byte) {
	if name := s.name(); name != "" {
		s.out.BulkString(name)
		return
	}
	s.out.Null()
}

// clientSetInfo keeps what a client library tells of itself.
func (s *session) clientSetInfo(args [][]byte) {
	var label *string
	switch {
	case fold(args[2], "lib-name"):
		label = &s.labels.libName
	case fold(args[2], "lib-ver"):
		label = &s.labels.libVersion
	default:
		s.fail(command.UnrecognizedOption(args[2]))
		return
	}
	if !printable(args[3]) {
		s.fail(command.ClientAttribute(args[2]))
		return
	}
	s.labels.Lock()
	*label = string(args[3])
	s.labels.Unlock()
	s.ok()
}

func (s *session) clientID([][]byte) { s.out.Int(int64(s.id)) }

// clientGetRedir and clientTrackingInfo tell that tracking is off: it is not
// built.
func (s *session) clientGetRedir([][]byte) { s.out.Int(-1) }

func (s *session) clientTrackingInfo([][]byte) {
	s.out.Map(3)
	s.out.BulkString("flags")
	s.out.Set(1)
	s.out.BulkString("off")
	s.out.BulkString("redirect")
	s.out.Int(-1)
	s.out.BulkString("prefixes")
	s.out.Array(0)
}

func (s *session) clientNoEvict(args [][]byte) { s.onOff(args[2], flagNoEvict) }

func (s *session) clientNoTouch(args [][]byte) { s.onOff(args[2], flagNoTouch) }

func (s *session) onOff(word []byte, flag uint32) {
	switch {
	case fold(word, "on"):
		s.mark(flag, true)
	case fold(word, "off"):
		s.mark(flag, false)
	default:
		s.fail(command.ErrSyntax)
		return
	}
	s.ok()
}

// clientReply is CLIENT REPLY ON|OFF|SKIP. Inside EXEC its own reply is OK in any
// case, as the array that was announced would otherwise lack an element.
func (s *session) clientReply(args [][]byte) {
	switch {
	case fold(args[2], "on"):
		s.mute, s.skip = false, false
	case fold(args[2], "off"):
		s.mute = true
	case fold(args[2], "skip"):
		s.skip = !s.mute
	default:
		s.fail(command.ErrSyntax)
		return
	}
	if s.inExec {
		s.ok()
		return
	}
	s.out.Discard(s.mute || s.skip)
	s.ok()
	s.out.Discard(s.mute)
}

// clientUnblock answers that the client was not blocked: no command blocks.
func (s *session) clientUnblock(args [][]byte) {
	if _, ok := integer(args[2]); !ok {
		s.fail(command.ErrNotInteger)
		return
	}
	if len(args) > 4 {
		s.fail(command.WrongSubcommandArity("client", "unblock"))
		return
	}
	if len(args) == 4 && !fold(args[3], "timeout") && !fold(args[3], "error") {
		s.fail(command.ErrUnblockReason)
		return
	}
	s.out.Int(0)
}
