package session

import "github.com/tiergrid/tiergrid/node/command"

// Replies that only a session gives.
const (
	errMonitorsData   command.Error = "ERR Replica can't interact with the keyspace"
	errMonitorQueued  command.Error = "ERR MONITOR isn't allowed for DENY BLOCKING client"
	errPauseMode      command.Error = "ERR CLIENT PAUSE mode must be WRITE or ALL"
	errUnblockReason  command.Error = "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR"
	errTooMuchQueued  command.Error = "ERR the transaction takes more memory than one may"
	errTooMuchWatched command.Error = "ERR the watched keys take more memory than they may"
	errRulesChanged   command.Error = "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. This command is no longer allowed for the following reason: "
)

// wrongSubcommandArgs: a subcommand that takes a variable number of words got
// too many.
func wrongSubcommandArgs(container, word string) command.Error {
	return command.Error("ERR unknown subcommand or wrong number of arguments for '" + word + "'. Try " + container + " HELP.")
}
