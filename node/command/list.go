package command

import "strings"

// AppendList answers COMMAND LIST: the full names of all commands and
// subcommands that pass the filter in args (what follows LIST).
func AppendList(w Reply, args [][]byte) {
	keep, err := listFilter(args)
	if err != nil {
		w.Error(string(ErrSyntax))
		return
	}
	appendNames(w, keep)
}

// listFilter reads [FILTERBY MODULE name | ACLCAT category | PATTERN glob]. An
// unknown category or module lets nothing pass.
func listFilter(args [][]byte) (func(*Command) bool, error) {
	if len(args) == 0 {
		return func(*Command) bool { return true }, nil
	}
	if len(args) != 3 || !equalFold("filterby", args[0]) {
		return nil, ErrSyntax
	}
	switch value := args[2]; {
	case equalFold("module", args[1]):
		return func(*Command) bool { return false }, nil
	case equalFold("aclcat", args[1]):
		cat, _ := CategoryByName(string(value))
		return func(c *Command) bool { return c.In(cat) }, nil
	case equalFold("pattern", args[1]):
		return func(c *Command) bool { return Match(value, c.Name, true) }, nil
	}
	return nil, ErrSyntax
}

// AppendCategories answers ACL CAT.
func AppendCategories(w Reply) {
	w.Array(len(categoryNames))
	for _, name := range categoryNames {
		w.BulkString(name)
	}
}

// AppendCategory answers ACL CAT name: the commands and subcommands in it.
func AppendCategory(w Reply, name []byte) {
	cat, ok := CategoryByName(string(name))
	if !ok {
		w.Error(string(UnknownCategory(name)))
		return
	}
	appendNames(w, func(c *Command) bool { return c.In(cat) })
}

func appendNames(w Reply, keep func(*Command) bool) {
	var names []string
	for _, c := range all {
		if keep(c) {
			names = append(names, c.Name)
		}
	}
	w.Array(len(names))
	for _, name := range names {
		w.BulkString(name)
	}
}

// AppendGetKeys answers COMMAND GETKEYS for the call args (what follows GETKEYS).
func AppendGetKeys(w Reply, args [][]byte) {
	appendKeys(w, args, func(k KeyRef) { w.Bulk(args[k.Index]) })
}

// AppendGetKeysAndFlags answers COMMAND GETKEYSANDFLAGS for the call args.
func AppendGetKeysAndFlags(w Reply, args [][]byte) {
	appendKeys(w, args, func(k KeyRef) {
		w.Array(2)
		w.Bulk(args[k.Index])
		k.Access.append(w)
	})
}

// appendKeys answers an array of what one appends for each key of a call.
func appendKeys(w Reply, args [][]byte, one func(k KeyRef)) {
	keys, err := callKeys(args)
	if err != nil {
		w.Error(err.Error())
		return
	}
	w.Array(len(keys))
	for _, k := range keys {
		one(k)
	}
}

// callKeys finds the keys of a call that a client asks about.
func callKeys(args [][]byte) ([]KeyRef, error) {
	c, err := resolveName(args)
	switch {
	case err != nil:
		return nil, ErrInvalidCommand
	case !c.HasKeys():
		return nil, ErrNoKeyArguments
	case !c.fits(len(args)):
		return nil, ErrInvalidArgumentCount
	}
	return c.AppendKeys(nil, args)
}

// AppendHelp answers HELP of a container: the subcommands that are built.
func AppendHelp(w Reply, container *Command) {
	lines := []string{strings.ToUpper(container.Name) + " takes one of these subcommands:"}
	for _, sub := range container.Sub {
		if sub.Built {
			lines = append(lines, strings.ToUpper(sub.word), "    "+sub.Summary)
		}
	}
	w.Array(len(lines))
	for _, line := range lines {
		w.Status(line)
	}
}
