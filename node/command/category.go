package command

import "strings"

// A Category is a set of ACL categories.
type Category uint64

// The categories, in the order of ACL CAT.
const (
	CategoryKeyspace Category = 1 << iota
	CategoryRead
	CategoryWrite
	CategorySet
	CategorySortedSet
	CategoryList
	CategoryHash
	CategoryString
	CategoryBitmap
	CategoryHyperLogLog
	CategoryGeo
	CategoryStream
	CategoryPubSub
	CategoryAdmin
	CategoryFast
	CategorySlow
	CategoryBlocking
	CategoryDangerous
	CategoryConnection
	CategoryTransaction
	CategoryScripting
)

// categoryNames are the words of ACL rules without "@", in bit order.
var categoryNames = [...]string{
	"keyspace", "read", "write", "set", "sortedset", "list", "hash", "string", "bitmap", "hyperloglog", "geo",
	"stream", "pubsub", "admin", "fast", "slow", "blocking", "dangerous", "connection", "transaction", "scripting",
}

// Categories returns every category, in the order of ACL CAT.
func Categories() []Category {
	all := make([]Category, len(categoryNames))
	for i := range all {
		all[i] = 1 << i
	}
	return all
}

// CategoryByName returns the category called name, without "@" and in any case.
func CategoryByName(name string) (Category, bool) {
	for i, n := range categoryNames {
		if strings.EqualFold(n, name) {
			return 1 << i, true
		}
	}
	return 0, false
}

// String lists the categories of c by name, joined by commas.
func (c Category) String() string { return strings.Join(bitNames(uint64(c), categoryNames[:]), ",") }

// Commands returns the commands, containers and subcommands of category c, in
// the order of the table.
func (c Category) Commands() []*Command {
	var in []*Command
	for _, cmd := range all {
		if cmd.In(c) {
			in = append(in, cmd)
		}
	}
	return in
}

// impliedCategories returns the categories a command has because of its flags.
// Scripts declared read-only are not @read: a script's keys are only known when
// it runs.
func impliedCategories(f Flag, stated Category) Category {
	c := stated
	if f&Write != 0 {
		c |= CategoryWrite
	}
	if f&ReadOnly != 0 && stated&CategoryScripting == 0 {
		c |= CategoryRead
	}
	if f&Admin != 0 {
		c |= CategoryAdmin | CategoryDangerous
	}
	if f&PubSub != 0 {
		c |= CategoryPubSub
	}
	if f&Blocking != 0 {
		c |= CategoryBlocking
	}
	if f&Fast != 0 {
		return c | CategoryFast
	}
	return c | CategorySlow
}
