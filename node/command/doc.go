// Package command holds the table of all Redis 7.2 commands as data, and the
// error texts commands answer with.
//
// The table is commands.txt: one line a command, embedded and parsed once when
// the program starts. From it come
//
//   - [Lookup], [LookupFull] and [Resolve]: the command a request names, or
//     Redis's own error text for a request that names none;
//   - [Command.AppendKeys]: which words of a request are keys, and how each is
//     used, for permissions and routing;
//   - [Command] itself: flags, ACL categories and key specs;
//   - the replies of COMMAND and ACL CAT (AppendAll, AppendInfo, AppendList,
//     AppendDocs, AppendCategory …), written through the small interface [Reply].
//
// [Error] is an error whose text is the reply: the Redis prefix, then the
// sentence. All texts stand in errors.go; no other package makes up a prefix.
//
// The table names every command, built or not: [Command.Built] tells, and
// [NotBuilt] is the answer for the rest. What a command means is not known here:
// no options, no reply shapes, no execution.
//
// Everything is read-only after start and safe for concurrent use. Lookup,
// Resolve of a good request and AppendKeys into a slice with room do not
// allocate.
package command
