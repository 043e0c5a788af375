package command

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Each text is what the real server answers to a call that provokes it.
func TestErrorsAgainstRedis(t *testing.T) {
	conn := dialRedis(t, 2)
	for _, setup := range []string{
		"flushall", "set s abc", "set big 9223372036854775807", "set f 1e300", "rpush l a", "hset h f x", "zadd z inf m", "set d 1",
		"config set proto-max-bulk-len 1048576",
	} {
		if n := conn.do(strings.Fields(setup)...); n.kind == '-' {
			t.Fatalf("%s: %s", setup, n.text)
		}
	}
	for _, tc := range []struct {
		call string
		want Error
	}{
		{"set s a nope", ErrSyntax},
		{"set s a ex x", ErrNotInteger},
		{"incr s", ErrNotInteger},
		{"select x", ErrNotInteger},
		{"incrbyfloat s 1", ErrNotFloat},
		{"incrbyfloat f x", ErrNotFloat},
		{"spop l -1", ErrNotPositive},
		{"hrandfield h -4611686018427387905 withvalues", ErrOutOfRange},
		{"scan x", ErrInvalidCursor},
		{"select 1000", ErrDatabaseRange},
		{"swapdb x 1", ErrInvalidFirstDatabase},
		{"swapdb 1 x", ErrInvalidSecondDatabase},
		{"get l", ErrWrongType},
		{"rename nope x", ErrNoSuchKey},
		{"copy s s", ErrSameObject},
		{"move s 0", ErrSameObject},
		{"restore s 0 x", ErrBusyKey},
		{"restore n 0 x", ErrBadPayload},
		{"restore n -1 x", ErrInvalidTTL},
		{"restore n 0 x idletime -1", ErrInvalidIdleTime},
		{"restore n 0 x freq 256", ErrInvalidFrequency},
		{"lset l 5 x", ErrIndexRange},
		{"expire s 1 nx xx", ErrExpireConflict},
		{"expire s 1 gt lt", ErrExpireOrder},
		{"expire s 1 nope", UnsupportedOption([]byte("nope"))},
		{"expire s 9223372036854775807", InvalidExpireTime("expire")},
		{"set s a ex 0", InvalidExpireTime("set")},
		{"setex s 0 a", InvalidExpireTime("setex")},
		{"object freq s", ErrNoFrequency},
		{"setrange s 1048576 x", ErrStringTooLong},
		{"setrange s -1 x", ErrOffset},
		{"incr big", ErrOverflow},
		{"decrby d -9223372036854775808", ErrDecrementOverflow},
		{"incrbyfloat f inf", ErrNotFinite},
		{"lcs s d len idx", ErrLCSBoth},
		{"lcs s l", ErrLCSType},
		{"setbit s -1 1", ErrBitOffset},
		{"setbit s 8388608 1", ErrBitOffset},
		{"setbit s 1 2", ErrBitValue},
		{"bitpos s 2", ErrBitArgument},
		{"bitop not d a b", ErrBitOpNot},
		{"bitfield s get u64 0", ErrBitfieldType},
		{"bitfield s overflow nope", ErrBitfieldOverflow},
		{"bitfield_ro s set u8 0 1", ErrBitfieldReadOnly},
		{"hincrby h f 1", ErrHashNotInteger},
		{"hincrbyfloat h f 1", ErrHashNotFloat},
		{"zrangebyscore z x 1", ErrScoreRange},
		{"zrangebylex z x 1", ErrLexRange},
		{"zincrby z -inf m", ErrScoreNotFinite},
		{"pfadd s x", ErrNotHyperLogLog},
		{"exec", ErrExecWithoutMulti},
		{"discard", ErrDiscardWithoutMulti},
		{"hello 4", ErrNoProto},
		{"hello x", ErrProtoNotInteger},
		{"hello 3 nope", HelloOption([]byte("nope"))},
		{"auth x", ErrAuthNotNeeded},
		{"auth nobody x", ErrWrongPass},
		{"client kill 1.2.3.4:5", ErrNoSuchClient},
		{"client kill id 0", ErrInvalidClientID},
		{"client kill type nope", UnknownClientType([]byte("nope"))},
		{"client kill user nope", NoSuchUser([]byte("nope"))},
		{"client list id x", ErrListClientID},
		{"client setname a\x01b", ErrClientName},
		{"client pause x", ErrPauseTimeout},
		{"client pause -1", ErrNegativeTimeout},
		{"slowlog get -2", ErrSlowlogCount},
		{"acl cat nope", UnknownCategory([]byte("nope"))},
		{"config set nope x", UnknownSetting([]byte("nope"))},
		{"cluster info", "ERR This instance has cluster support disabled"},
		{"multi", ""},
		{"multi", ErrNestedMulti},
		{"watch s", ErrWatchInsideMulti},
		{"subscribe-not", UnknownCommand([]byte("subscribe-not"), nil)},
		{"exec", ErrExecAbort},
		{"multi", ""},
		{"sync", ErrNotInMulti},
		{"discard", ""},
	} {
		n := conn.do(strings.Fields(tc.call)...)
		if (n.kind == '-') != (tc.want != "") || n.kind == '-' && n.text != string(tc.want) {
			t.Errorf("%q: %c%s, want %s", tc.call, n.kind, n.text, tc.want)
		}
	}
}

// Texts that 7.2 has otherwise than the 7.0 the tests run against, and those of
// tiergrid alone.
func TestErrorTexts(t *testing.T) {
	for _, tc := range []struct {
		got  Error
		want string
	}{
		{NoPermission("app", "config|set"), "NOPERM User app has no permissions to run the 'config|set' command"},
		{ErrNoPermissionKey, "NOPERM No permissions to access a key"},
		{ErrNoPermissionChannel, "NOPERM No permissions to access a channel"},
		{UnrecognizedOption([]byte("lib")), "ERR Unrecognized option 'lib'"},
		{ClientAttribute([]byte("lib-name")), "ERR lib-name cannot contain spaces, newlines or special characters."},
		{OutOfBounds(-1, 7), "ERR value is out of range, value must between -1 and 7"},
		{Uncertain("the link broke\r\n"), "UNCERTAIN may have been applied: the link broke  "},
		{ExecAborted(WrongArity("get")), "EXECABORT Transaction discarded because of: wrong number of arguments for 'get' command"},
		{SettingFailed("timeout", "no\nnumber"), "ERR CONFIG SET failed (possibly related to argument 'timeout') - no number"},
		{UnknownClientType([]byte("\xff\n\x00z")), "ERR Unknown client type '\xff '"},
		{WrongSubcommandArity("acl", "cat"), "ERR unknown subcommand or wrong number of arguments for 'cat'. Try ACL HELP."},
		{RulesChanged(NoPermission("app", "set")), "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. " +
			"This command is no longer allowed for the following reason: User app has no permissions to run the 'set' command"},
		{ExecAborted(ErrOOM), "EXECABORT Transaction discarded because of: OOM command not allowed when used memory > 'maxmemory'."},
		{ClusterDown("no\nowner"), "CLUSTERDOWN no owner"},
		{StorageFailed(errors.New("bad\rdisk")), "ERR the storage failed, the command was not carried out: bad disk"},
		{Failed(fmt.Errorf("set: %w", ErrOOM)), string(ErrOOM)},
		{Failed(errors.New("disk\nbroke")), "ERR disk broke"},
	} {
		if string(tc.got) != tc.want {
			t.Errorf("%q, want %q", tc.got, tc.want)
		}
	}
	if ErrWrongType.Prefix() != "WRONGTYPE" || Error("LOADING").Prefix() != "LOADING" {
		t.Error("prefixes")
	}
}
