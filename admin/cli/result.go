package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/tiergrid/tiergrid/admin/api"
)

// withoutUsers says what a grid without users does.
const withoutUsers = "there is no user: local connections are served without a login, others are refused"

// result is what a command has to show: a text for people or a value for
// programs.
type result struct {
	text    string
	value   any
	changed bool
}

// show prints the result in the form that was asked for.
func (r result) show(c *cli.Context, t *target) error {
	if c.Bool(flagJSON) {
		b, err := json.MarshalIndent(r.value, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.App.Writer, "%s\n", b)
		return err
	}
	text := r.text
	if t.offline && r.changed {
		text += fmt.Sprintf("\nno server runs on %s; this counts from the next start on", t.place)
	}
	_, err := fmt.Fprintln(c.App.Writer, text)
	return err
}

// done is the result of a command that has no value to show.
func done(name, what string) result {
	return result{
		text:    "user " + name + ": " + what,
		value:   map[string]string{"name": name, "result": what},
		changed: true,
	}
}

// userResult shows a user as it is now.
func userResult(u api.User, what string) result {
	text := fmt.Sprintf("user %s: %s, groups %s", u.Name, what, strings.Join(u.Groups, ", "))
	if len(u.Groups) == 0 {
		text = fmt.Sprintf("user %s: %s, without groups it may do nothing; see groups", u.Name, what)
	}
	return result{text: text, value: u, changed: true}
}

// listResult shows a table.
func listResult(all []api.User) result {
	if len(all) == 0 {
		return result{text: withoutUsers, value: []api.User{}}
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tGROUPS")
	for _, u := range all {
		fmt.Fprintf(w, "%s\t%s\n", u.Name, strings.Join(u.Groups, ", "))
	}
	w.Flush()
	return result{text: strings.TrimSuffix(b.String(), "\n"), value: all}
}
