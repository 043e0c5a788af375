package config

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
)

// later are keys of what this version does not have yet.
var later = map[string]string{
	"cluster": "grids of several members",
	"restart": "warming the memory tier at start",
}

// explain makes an error of the YAML library a message of one line for an
// operator. For an unknown key it names the nearest known one.
func explain(err error) error {
	var unknown *yaml.UnknownFieldError
	if !errors.As(err, &unknown) {
		return inOneLine(err)
	}
	line := unknown.Token.Position.Line
	key := unknown.Token.Value
	if what, ok := later[key]; ok {
		return fmt.Errorf("line %d: %q belongs to %s, which this version of tiergrid does not have", line, key, what)
	}
	return fmt.Errorf("line %d: unknown key %q; did you mean %q?", line, key, nearest(key))
}

// inOneLine leaves out the excerpt that the library draws.
func inOneLine(err error) error {
	var shown yaml.Error
	if !errors.As(err, &shown) {
		return err
	}
	return fmt.Errorf("line %d: %s", shown.GetToken().Position.Line, shown.GetMessage())
}

// nearest is the known key that differs from key by the fewest edits.
func nearest(key string) string {
	best, least := "", len(key)+64
	for _, known := range keysOf(reflect.TypeFor[Config]()) {
		if d := edits(key, known); d < least {
			best, least = known, d
		}
	}
	return best
}

// keysOf lists all keys of a configuration type, those inside it too.
func keysOf(t reflect.Type) []string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		return keysOf(t.Elem())
	case reflect.Struct:
	default:
		return nil
	}
	var keys []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if name != "" {
			keys = append(keys, name)
		}
		keys = append(keys, keysOf(t.Field(i).Type)...)
	}
	return keys
}

// edits is the Levenshtein distance of two words.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
