package command

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
)

// An Error is an error reply: a prefix in capitals that clients act on, a blank
// and a sentence. Its text is sent as it is.
type Error string

// Error is the whole reply without the leading "-".
func (e Error) Error() string { return string(e) }

// Prefix is the first word, by which replies are counted and clients decide.
func (e Error) Prefix() string {
	prefix, _, _ := strings.Cut(string(e), " ")
	return prefix
}

// The request is not understood.
const (
	// ErrSyntax: options that do not exist, contradict each other or lack a value.
	ErrSyntax Error = "ERR syntax error"
	// ErrNotInteger: an argument or a stored string is no 64-bit integer.
	ErrNotInteger Error = "ERR value is not an integer or out of range"
	// ErrNotFloat: an argument or a stored string is no number.
	ErrNotFloat Error = "ERR value is not a valid float"
	// ErrOutOfRange: an integer outside what the argument allows.
	ErrOutOfRange Error = "ERR value is out of range"
	// ErrNotPositive: a count below zero where none may be.
	ErrNotPositive Error = "ERR value is out of range, must be positive"
	// ErrInvalidCursor: the cursor of a SCAN is no number.
	ErrInvalidCursor Error = "ERR invalid cursor"
	// ErrDatabaseRange: SELECT, MOVE or COPY to a database that does not exist.
	ErrDatabaseRange Error = "ERR DB index is out of range"
	// ErrInvalidFirstDatabase: the first number of SWAPDB is none.
	ErrInvalidFirstDatabase Error = "ERR invalid first DB index"
	// ErrInvalidSecondDatabase: the second number of SWAPDB is none.
	ErrInvalidSecondDatabase Error = "ERR invalid second DB index"
)

// Keys and values.
const (
	// ErrWrongType: the key holds a value of another kind.
	ErrWrongType Error = "WRONGTYPE Operation against a key holding the wrong kind of value"
	// ErrNoSuchKey: a key that must exist does not.
	ErrNoSuchKey Error = "ERR no such key"
	// ErrSameObject: COPY or MOVE of a key onto itself.
	ErrSameObject Error = "ERR source and destination objects are the same"
	// ErrBusyKey: RESTORE without REPLACE of a key that exists.
	ErrBusyKey Error = "BUSYKEY Target key name already exists."
	// ErrIndexRange: LSET beyond the list.
	ErrIndexRange Error = "ERR index out of range"
	// ErrBadPayload: RESTORE of a payload of an unknown version or with a wrong checksum.
	ErrBadPayload Error = "ERR DUMP payload version or checksum are wrong"
	// ErrBadData: RESTORE of a payload whose checksum is right and whose content is not.
	ErrBadData Error = "ERR Bad data format"
	// ErrInvalidTTL: RESTORE with a negative time to live.
	ErrInvalidTTL Error = "ERR Invalid TTL value, must be >= 0"
	// ErrInvalidIdleTime: RESTORE with a negative IDLETIME.
	ErrInvalidIdleTime Error = "ERR Invalid IDLETIME value, must be >= 0"
	// ErrInvalidFrequency: RESTORE with a FREQ outside 0…255.
	ErrInvalidFrequency Error = "ERR Invalid FREQ value, must be >= 0 and <= 255"
	// ErrExpireConflict: EXPIRE with NX beside XX, GT or LT.
	ErrExpireConflict Error = "ERR NX and XX, GT or LT options at the same time are not compatible"
	// ErrExpireOrder: EXPIRE with GT beside LT.
	ErrExpireOrder Error = "ERR GT and LT options at the same time are not compatible"
	// ErrNoFrequency: OBJECT FREQ while frequencies are not kept.
	ErrNoFrequency Error = "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust."
)

// Keys: where tiergrid does otherwise than Redis.
const (
	// ErrNoIdleTime: OBJECT IDLETIME; a tier knows what is hot, not when it was read.
	ErrNoIdleTime Error = "ERR idle times are not tracked"
	// ErrTooManyNames: KEYS whose reply is over its bound.
	ErrTooManyNames Error = "ERR too many keys for one reply, use SCAN"
)

// Strings.
const (
	// ErrStringTooLong: the result would exceed the largest string.
	ErrStringTooLong Error = "ERR string exceeds maximum allowed size (proto-max-bulk-len)"
	// ErrOffset: a negative offset of SETRANGE.
	ErrOffset Error = "ERR offset is out of range"
	// ErrOverflow: INCR or DECR past 64 bits.
	ErrOverflow Error = "ERR increment or decrement would overflow"
	// ErrDecrementOverflow: DECRBY by the one integer that has no negative.
	ErrDecrementOverflow Error = "ERR decrement would overflow"
	// ErrNotFinite: INCRBYFLOAT to something that is no number.
	ErrNotFinite Error = "ERR increment would produce NaN or Infinity"
	// ErrLCSBoth: LCS with LEN and IDX.
	ErrLCSBoth Error = "ERR If you want both the length and indexes, please just use IDX."
	// ErrLCSType: LCS of a key that holds no string.
	ErrLCSType Error = "ERR The specified keys must contain string values"
	// ErrLCSTooLong: LCS of strings of 4 GiB and more.
	ErrLCSTooLong Error = "ERR String too long for LCS"
	// ErrLCSMemory: the table LCS needs is larger than the largest string.
	ErrLCSMemory Error = "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len"
)

// Bitmaps.
const (
	// ErrBitOffset: a bit position that is negative, no integer or too far.
	ErrBitOffset Error = "ERR bit offset is not an integer or out of range"
	// ErrBitValue: SETBIT to something other than 0 and 1.
	ErrBitValue Error = "ERR bit is not an integer or out of range"
	// ErrBitArgument: BITPOS of something other than 0 and 1.
	ErrBitArgument Error = "ERR The bit argument must be 1 or 0."
	// ErrBitOpNot: BITOP NOT with more than one source.
	ErrBitOpNot Error = "ERR BITOP NOT must be called with a single source key."
	// ErrBitfieldType: a type BITFIELD does not know.
	ErrBitfieldType Error = "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is."
	// ErrBitfieldOverflow: an OVERFLOW BITFIELD does not know.
	ErrBitfieldOverflow Error = "ERR Invalid OVERFLOW type specified"
	// ErrBitfieldReadOnly: BITFIELD_RO with something other than GET.
	ErrBitfieldReadOnly Error = "ERR BITFIELD_RO only supports the GET subcommand"
)

// Collections.
const (
	// ErrHashNotInteger: HINCRBY of a field that holds no integer.
	ErrHashNotInteger Error = "ERR hash value is not an integer"
	// ErrHashNotFloat: HINCRBYFLOAT of a field that holds no number.
	ErrHashNotFloat Error = "ERR hash value is not a float"
	// ErrScoreRange: a bound of scores that is no number.
	ErrScoreRange Error = "ERR min or max is not a float"
	// ErrLexRange: a bound of names without [ or (.
	ErrLexRange Error = "ERR min or max not valid string range item"
	// ErrScoreNotFinite: ZINCRBY to something that is no number.
	ErrScoreNotFinite Error = "ERR resulting score is not a number (NaN)"
	// ErrNotHyperLogLog: a string that is no HyperLogLog.
	ErrNotHyperLogLog Error = "WRONGTYPE Key is not a valid HyperLogLog string value."
)

// Transactions.
const (
	// ErrNestedMulti: MULTI inside MULTI.
	ErrNestedMulti Error = "ERR MULTI calls can not be nested"
	// ErrExecWithoutMulti: EXEC outside MULTI.
	ErrExecWithoutMulti Error = "ERR EXEC without MULTI"
	// ErrDiscardWithoutMulti: DISCARD outside MULTI.
	ErrDiscardWithoutMulti Error = "ERR DISCARD without MULTI"
	// ErrWatchInsideMulti: WATCH inside MULTI.
	ErrWatchInsideMulti Error = "ERR WATCH inside MULTI is not allowed"
	// ErrNotInMulti: a command that cannot be queued.
	ErrNotInMulti Error = "ERR Command not allowed inside a transaction"
	// ErrExecAbort: EXEC after a command that could not be queued.
	ErrExecAbort Error = "EXECABORT Transaction discarded because of previous errors."
	// ErrTransactionTooLarge: the commands of a transaction are over their bound.
	ErrTransactionTooLarge Error = "ERR the transaction takes more memory than one may"
	// ErrWatchedTooLarge: the keys a client watches are over their bound.
	ErrWatchedTooLarge Error = "ERR the watched keys take more memory than they may"
	// ErrReplyTooLarge: the reply of one command over several keys is over its bound.
	ErrReplyTooLarge Error = "ERR the reply exceeds 512 MiB, ask for fewer keys at once"
	// ErrTransactionReply: the replies of a transaction are over their bound.
	ErrTransactionReply Error = "ERR the replies of the transaction exceed 64 MiB, nothing was carried out"
	// ErrTransactionChange: what a transaction writes is over its bound.
	ErrTransactionChange Error = "ERR the changes of the transaction exceed 256 MiB, nothing was carried out"
)

// Login, permissions and connections.
const (
	// ErrNoAuth: a command before login.
	ErrNoAuth Error = "NOAUTH Authentication required."
	// ErrNoAuthHello: HELLO before login without AUTH.
	ErrNoAuthHello Error = "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time"
	// ErrWrongPass: an unknown user or a wrong password; never says which.
	ErrWrongPass Error = "WRONGPASS invalid username-password pair or user is disabled."
	// ErrAuthNotNeeded: AUTH with one argument where no password is set.
	ErrAuthNotNeeded Error = "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?"
	// ErrNoProto: HELLO with a protocol other than 2 and 3.
	ErrNoProto Error = "NOPROTO unsupported protocol version"
	// ErrProtoNotInteger: HELLO with something that is no number.
	ErrProtoNotInteger Error = "ERR Protocol version is not an integer or out of range"
	// ErrProtected: a client from elsewhere while no user exists.
	ErrProtected Error = "DENIED tiergrid has no users yet and answers local clients only. Create one with 'tiergrid user create NAME -p PASSWORD -g admin'."
	// ErrMaxClients: one connection too many.
	ErrMaxClients Error = "ERR max number of clients reached"
	// ErrNoSuchClient: CLIENT KILL of an address nobody has.
	ErrNoSuchClient Error = "ERR No such client"
	// ErrListClientID: CLIENT LIST ID with something that is no number.
	ErrListClientID Error = "ERR Invalid client ID"
	// ErrInvalidClientID: CLIENT KILL ID with something other than a positive number.
	ErrInvalidClientID Error = "ERR client-id should be greater than 0"
	// ErrClientName: a name with blanks, line ends or other unprintable bytes.
	ErrClientName Error = "ERR Client names cannot contain spaces, newlines or special characters."
	// ErrPauseTimeout: CLIENT PAUSE with something that is no number of milliseconds.
	ErrPauseTimeout Error = "ERR timeout is not an integer or out of range"
	// ErrPauseMode: CLIENT PAUSE of something other than WRITE and ALL.
	ErrPauseMode Error = "ERR CLIENT PAUSE mode must be WRITE or ALL"
	// ErrUnblockReason: CLIENT UNBLOCK with something other than TIMEOUT and ERROR.
	ErrUnblockReason Error = "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR"
	// ErrMonitorsData: a data command of a client that monitors.
	ErrMonitorsData Error = "ERR Replica can't interact with the keyspace"
	// ErrMonitorQueued: MONITOR inside a transaction.
	ErrMonitorQueued Error = "ERR MONITOR isn't allowed for DENY BLOCKING client"
	// ErrNegativeTimeout: a timeout below zero.
	ErrNegativeTimeout Error = "ERR timeout is negative"
	// ErrSlowlogCount: SLOWLOG GET with a count below -1.
	ErrSlowlogCount Error = "ERR count should be greater than or equal to -1"
)

// State of the grid. Clients repeat TRYAGAIN, CLUSTERDOWN, LOADING, MASTERDOWN
// and READONLY by themselves, so they are sent only where the command certainly
// did not run. Where it may have, the answer is [Uncertain].
const (
	// ErrCrossSlot: keys that must meet are in different slots.
	ErrCrossSlot Error = "CROSSSLOT Keys in request don't hash to the same slot"
	// ErrClusterDown: no member can serve the slot now.
	ErrClusterDown Error = "CLUSTERDOWN The cluster is down"
	// ErrNotServed: the slot has no owner.
	ErrNotServed Error = "CLUSTERDOWN Hash slot not served"
	// ErrTryAgain: the keys are being moved.
	ErrTryAgain Error = "TRYAGAIN Multiple keys request during rehashing of slot"
	// ErrLoading: the data is not open yet.
	ErrLoading Error = "LOADING tiergrid is opening its data"
	// ErrReadOnly: a write to a copy that may only be read.
	ErrReadOnly Error = "READONLY You can't write against a read only replica."
	// ErrNoReplicas: fewer copies are in sync than the cache demands.
	ErrNoReplicas Error = "NOREPLICAS Not enough good replicas to write."
	// ErrOOM: a write while there is no space for it; deletes still work.
	ErrOOM Error = "OOM command not allowed when used memory > 'maxmemory'."
	// ErrStorageFull: a write while the SSD tier has reached its max-size.
	ErrStorageFull Error = "OOM command not allowed: the SSD tier has reached its max-size"
	// ErrDiskFull: a write while the disk is nearly full.
	ErrDiskFull Error = "OOM command not allowed: the disk is nearly full"
	// ErrClosing: a command while the server shuts down; it did not run.
	ErrClosing Error = "ERR server is shutting down"
)

// COMMAND's own errors.
const (
	// ErrNoKeysFound: the arguments are too mixed up to tell the keys.
	ErrNoKeysFound Error = "ERR Invalid arguments specified for command"
	// ErrNoKeyArguments: GETKEYS of a command that takes no keys.
	ErrNoKeyArguments Error = "ERR The command has no key arguments"
	// ErrInvalidCommand: GETKEYS of something that is no command.
	ErrInvalidCommand Error = "ERR Invalid command specified"
	// ErrInvalidArgumentCount: GETKEYS of a call with too few or too many words.
	ErrInvalidArgumentCount Error = "ERR Invalid number of arguments specified for command"
)

// shownName is how much of a name or argument an error repeats.
const shownName = 128

// UnknownCommand names a command that does not exist and the first arguments, as
// far as they fit in 128 bytes.
func UnknownCommand(name []byte, args [][]byte) Error {
	var shown []byte
	for _, arg := range args {
		if len(shown) >= shownName {
			break
		}
		shown = append(append(append(shown, '\''), cut(arg, shownName-len(shown))...), "' "...)
	}
	return oneLine("ERR unknown command '" + string(cut(name, shownName)) + "', with args beginning with: " + string(shown))
}

// UnknownSubcommand names a word that is no subcommand of a container.
func UnknownSubcommand(container, word []byte) Error {
	return oneLine("ERR unknown subcommand '" + string(cut(word, shownName)) + "'. Try " + strings.ToUpper(string(container)) + " HELP.")
}

// WrongSubcommandArity: a call with too many words for a subcommand that takes a
// variable number of them.
func WrongSubcommandArity(container, word string) Error {
	return oneLine("ERR unknown subcommand or wrong number of arguments for '" + word + "'. Try " + strings.ToUpper(container) + " HELP.")
}

// WrongArity: a call with too few or too many words for the command of this full name.
func WrongArity(name string) Error {
	return Error("ERR wrong number of arguments for '" + name + "' command")
}

// NotBuilt answers a command of the table that this version does not run.
func NotBuilt(c *Command) Error {
	return Error("ERR command '" + c.Name + "' is not built into this version of tiergrid")
}

// InvalidExpireTime: a time to live of zero, below zero or past the end of time.
func InvalidExpireTime(name string) Error {
	return Error("ERR invalid expire time in '" + name + "' command")
}

// UnsupportedOption: an option of the EXPIRE family that does not exist.
func UnsupportedOption(option []byte) Error {
	return oneLine("ERR Unsupported option " + string(cString(option)))
}

// UnknownCategory: a category of commands that does not exist.
func UnknownCategory(name []byte) Error {
	return oneLine("ERR Unknown category '" + string(cut(name, shownName)) + "'")
}

// HelloOption: an option of HELLO that does not exist or lacks its value.
func HelloOption(option []byte) Error {
	return oneLine("ERR Syntax error in HELLO option '" + string(cString(option)) + "'")
}

// UnknownClientType: CLIENT LIST or KILL of a type that does not exist.
func UnknownClientType(name []byte) Error {
	return oneLine("ERR Unknown client type '" + string(cString(name)) + "'")
}

// UnrecognizedOption: CLIENT SETINFO of something other than LIB-NAME and LIB-VER.
func UnrecognizedOption(option []byte) Error {
	return oneLine("ERR Unrecognized option '" + string(cString(option)) + "'")
}

// ClientAttribute: a value of CLIENT SETINFO with blanks, line ends or other
// unprintable bytes; name is the attribute as the client wrote it.
func ClientAttribute(name []byte) Error {
	return oneLine("ERR " + string(cString(name)) + " cannot contain spaces, newlines or special characters.")
}

// NoSuchUser: CLIENT KILL of a user that does not exist.
func NoSuchUser(name []byte) Error {
	return oneLine("ERR No such user '" + string(cString(name)) + "'")
}

// UnknownSetting: CONFIG SET of a setting that does not exist or cannot change.
func UnknownSetting(name []byte) Error {
	return oneLine("ERR Unknown option or number of arguments for CONFIG SET - '" + string(cString(name)) + "'")
}

// SettingFailed: CONFIG SET of a value that cannot be used, and why.
func SettingFailed(name, reason string) Error {
	return oneLine("ERR CONFIG SET failed (possibly related to argument '" + name + "') - " + reason)
}

// OutOfBounds: an integer that must lie between two others.
func OutOfBounds(low, high int64) Error {
	return Error("ERR value is out of range, value must between " +
		strconv.FormatInt(low, 10) + " and " + strconv.FormatInt(high, 10))
}

// NoPermission: the user may not run the command.
func NoPermission(user, command string) Error {
	return oneLine("NOPERM User " + user + " has no permissions to run the '" + command + "' command")
}

// ErrNoPermissionKey: the user may not use one of the keys that way.
const ErrNoPermissionKey Error = "NOPERM No permissions to access a key"

// ErrNoPermissionChannel: the user may not use one of the channels.
const ErrNoPermissionChannel Error = "NOPERM No permissions to access a channel"

// RulesChanged: EXEC of a queued command that the user may not run any more, and
// what is forbidden.
func RulesChanged(reason Error) Error {
	return "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. " +
		"This command is no longer allowed for the following reason: " + Error(strings.TrimPrefix(string(reason), "NOPERM "))
}

// ClusterDown: no member can serve the command, and why.
func ClusterDown(reason string) Error { return oneLine("CLUSTERDOWN " + reason) }

// StorageFailed: the tiers met an error; nothing of the command was done. The
// details are in the log of the node.
func StorageFailed(err error) Error {
	return oneLine("ERR the storage failed, the command was not carried out: " + err.Error())
}

// ExecAborted: EXEC that failed as a whole, and why.
func ExecAborted(reason Error) Error {
	return oneLine("EXECABORT Transaction discarded because of: " + strings.TrimPrefix(string(reason), "ERR "))
}

// Uncertain: the command may have run; nobody can tell. Clients do not repeat it
// by themselves.
func Uncertain(reason string) Error {
	return oneLine("UNCERTAIN may have been applied: " + reason)
}

// Failed turns any error into a reply: the Error it wraps as that is, another one
// as ERR.
func Failed(err error) Error {
	var e Error
	if errors.As(err, &e) {
		return e
	}
	return oneLine("ERR " + err.Error())
}

// oneLine makes text safe as an error reply: line ends become blanks.
func oneLine(text string) Error { return Error(lineEnds.Replace(text)) }

var lineEnds = strings.NewReplacer("\r", " ", "\n", " ")

// cut returns the first n bytes of a client's word, up to a zero byte.
func cut(b []byte, n int) []byte {
	b = cString(b)
	return b[:min(n, len(b))]
}

// cString ends a client's word at its first zero byte, as Redis shows it.
func cString(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return b
}
