package session

import (
	"bytes"
	"strconv"

	"github.com/tiergrid/tiergrid/node/command"
)

// Commands that dispatch treats in a way of their own.
var (
	cmdAuth    = known("auth")
	cmdEcho    = known("echo")
	cmdPing    = known("ping")
	cmdDiscard = known("discard")
	cmdExec    = known("exec")
	cmdHello   = known("hello")
	cmdMulti   = known("multi")
	cmdQuit    = known("quit")
	cmdReset   = known("reset")
	cmdSelect  = known("select")
	cmdSwapDB  = known("swapdb")
	cmdWatch   = known("watch")
)

func known(name string) *command.Command { return command.Lookup([]byte(name)) }

// connectionCommands are what a session answers itself.
var connectionCommands = map[string]handler{
	"auth":    (*session).authCommand,
	"echo":    (*session).echo,
	"hello":   (*session).hello,
	"ping":    (*session).ping,
	"quit":    (*session).quit,
	"reset":   (*session).reset,
	"select":  (*session).selectDatabase,
	"swapdb":  (*session).swapDatabases,
	"time":    (*session).time,
	"monitor": (*session).monitor,
	"info":    (*session).info,

	"multi":   (*session).multi,
	"exec":    (*session).exec,
	"discard": (*session).discard,
	"watch":   (*session).watch,
	"unwatch": (*session).unwatchCommand,

	"client|getname":      (*session).clientGetName,
	"client|getredir":     (*session).clientGetRedir,
	"client|help":         help("client"),
	"client|id":           (*session).clientID,
	"client|info":         (*session).clientInfo,
	"client|kill":         (*session).clientKill,
	"client|list":         (*session).clientList,
	"client|no-evict":     (*session).clientNoEvict,
	"client|no-touch":     (*session).clientNoTouch,
	"client|pause":        (*session).clientPause,
	"client|reply":        (*session).clientReply,
	"client|setinfo":      (*session).clientSetInfo,
	"client|setname":      (*session).clientSetName,
	"client|trackinginfo": (*session).clientTrackingInfo,
	"client|unblock":      (*session).clientUnblock,
	"client|unpause":      (*session).clientUnpause,

	"command":                 (*session).commandAll,
	"command|count":           (*session).commandCount,
	"command|docs":            (*session).commandDocs,
	"command|getkeys":         (*session).commandGetKeys,
	"command|getkeysandflags": (*session).commandGetKeysAndFlags,
	"command|help":            help("command"),
	"command|info":            (*session).commandInfo,
	"command|list":            (*session).commandList,

	"config|get":       (*session).configGet,
	"config|help":      help("config"),
	"config|resetstat": (*session).configResetStat,
	"config|set":       (*session).configSet,

	"slowlog|get":   (*session).slowlogGet,
	"slowlog|help":  help("slowlog"),
	"slowlog|len":   (*session).slowlogLen,
	"slowlog|reset": (*session).slowlogReset,

	"acl|cat":     (*session).aclCat,
	"acl|getuser": (*session).aclGetUser,
	"acl|help":    help("acl"),
	"acl|list":    (*session).aclList,
	"acl|users":   (*session).aclUsers,
	"acl|whoami":  (*session).aclWhoAmI,
}

// help answers HELP of a container.
func help(container string) handler {
	cmd := known(container)
	return func(s *session, _ [][]byte) { command.AppendHelp(s.out, cmd) }
}

func (s *session) ok() { s.out.Status("OK") }

// fail answers an error.
func (s *session) fail(err command.Error) { s.out.Error(string(err)) }

// fold reports whether b is word, which is in lower case, in any case.
func fold(b []byte, word string) bool {
	return len(b) == len(word) && bytes.EqualFold(b, []byte(word))
}

func appendInt(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }
