// Package conversation plays recorded RESP conversations against any server and
// compares what it answers, so that the same files judge tiergrid and Redis.
//
// A file is a Script: directives, then conversations, each with connections of
// its own and an empty database.
//
//	needs data               what a server must have to play the file
//
//	== the name of a conversation
//	> SET a "b c"            sends a command; quotes and escapes as in redis-cli
//	>> "PING\r\n"            sends bytes as they are
//	< +OK                    wants a reply
//	<redis -ERR other        wants this one in place of the line before from Redis
//	< /:(?P<id>\d+)/         a regular expression; ${id} later stands for the match
//	<end                     wants the connection to be closed
//	<nothing                 wants silence
//	@other                   goes on as another client, connecting it when new
//	!shut  !close  !wait 5ms ends the sending side; the connection; waits
//
// Lines to send that follow one another go out as one packet; after that their
// replies are wanted. A reply is written on one line: +status, -error, :1, "bulk",
// nil, *nil for a null array, [a, b], {k: v}, ~[a], >[a], ,1.5, #t, (123 and
// =txt:"verbatim".
//
// A Script is read-only after Load. Run opens connections and closes them, and
// waits at most a few seconds for any reply.
package conversation
