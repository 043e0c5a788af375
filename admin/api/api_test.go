package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestProblemsMatchTheirErrors(t *testing.T) {
	for _, k := range kinds {
		b, err := json.Marshal(NewProblem(fmt.Errorf("doing this: %w", k.err)))
		if err != nil {
			t.Fatal(err)
		}
		p := &Problem{}
		if err := json.Unmarshal(b, p); err != nil {
			t.Fatal(err)
		}
		if !errors.Is(p, k.err) || p.Status != k.status || p.Error() == "" {
			t.Errorf("%s does not stand for %v", b, k.err)
		}
		for _, other := range kinds {
			if other.err != k.err && errors.Is(p, other.err) {
				t.Errorf("%s also stands for %v", b, other.err)
			}
		}
	}
}

func TestProblemTexts(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("%w: the name is empty", ErrBadRequest), "the name is empty"},
		{fmt.Errorf("user x: %w", ErrNoUser), "user x: no such user"},
		{errors.New("disk /dev/x failed"), "the reason is in the log of the server"},
		{fmt.Errorf("%w: of the engine", ErrInternal), "the reason is in the log of the server"},
	} {
		if got := NewProblem(c.err).Error(); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
	if p := (&Problem{Type: "about:blank", Title: "Teapot"}); p.Error() != "Teapot" || p.Unwrap() != nil {
		t.Errorf("a foreign problem: %v, %v", p, p.Unwrap())
	}
}

func TestCheckGroups(t *testing.T) {
	if err := CheckGroups(KnownGroups); err != nil {
		t.Error(err)
	}
	err := CheckGroups([]string{Admin, "boss"})
	if !errors.Is(err, ErrUnknownGroup) || !strings.Contains(err.Error(), `"boss"; known groups: admin, deployer`) {
		t.Errorf("got %v", err)
	}
}
