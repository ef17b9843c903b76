package catalog

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SetRegion adds a region or changes it.
type SetRegion struct{ Region }

// RemoveRegion ends a region that nothing names any more.
type RemoveRegion struct {
	Name string `json:"name"`
}

// SetGateway says where a gateway takes forwarded requests.
type SetGateway struct{ Gateway }

// RemoveGateway forgets where a gateway was.
type RemoveGateway struct {
	Name string `json:"name"`
}

// BeginGeneration asks all gateways to build a region's part of the border
// index anew, because its bus does not go on where theirs ended. Result has
// the generation to build. Of several gateways that find this out at once, the
// first begins it and the others are told.
type BeginGeneration struct {
	Region string `json:"region"`
	// Was is the generation that does not fit any more; 0 before the first.
	Was   uint64 `json:"was"`
	Epoch string `json:"epoch"`
	Why   string `json:"why"`
}

func (SetRegion) kind() string       { return "region.set" }
func (RemoveRegion) kind() string    { return "region.remove" }
func (SetGateway) kind() string      { return "gateway.set" }
func (RemoveGateway) kind() string   { return "gateway.remove" }
func (BeginGeneration) kind() string { return "generation.begin" }

func (c SetRegion) apply(e *edit) error {
	if err := checkWord("region", c.Name); err != nil {
		return err
	}
	if len(c.Addresses) == 0 || len(c.Addresses) > 16 {
		return refused("region %q: it needs 1 to 16 addresses", c.Name)
	}
	for i, a := range c.Addresses {
		if host, port, err := net.SplitHostPort(a); err != nil || host == "" || port == "" || !utf8.ValidString(a) {
			return refused("region %q: address %q is not host:port", c.Name, a)
		}
		if slices.Contains(c.Addresses[:i], a) {
			return refused("region %q: address %s is there twice", c.Name, a)
		}
		for other := range e.Regions() {
			if other.Name != c.Name && slices.Contains(other.Addresses, a) {
				return refused("region %q: address %s is region %q's", c.Name, a, other.Name)
			}
		}
	}
	if c.Note != "" {
		if err := checkText("note", c.Note, 2000); err != nil {
			return err
		}
	}
	now := Region{c.Name, slices.Clone(c.Addresses), c.Note}
	was, ok := e.regions.get(c.Name)
	if ok && slices.Equal(was.Addresses, now.Addresses) && was.Note == now.Note {
		return nil
	}
	e.regions = e.regions.with(c.Name, now)
	e.noteSet(c.Name, was, ok, now)
	return nil
}

// noteSet notes that something is new or other than it was.
func (e *edit) noteSet(of string, was any, had bool, now any) {
	if !had {
		was = nil
	}
	e.note(of, was, now)
}

// put sets an entry of a list, and notes it if it is new or another.
func put[T comparable](e *edit, in *list[T], name string, v T) {
	was, ok := in.get(name)
	if ok && was == v {
		return
	}
	*in = in.with(name, v)
	e.noteSet(name, was, ok, v)
}

// remove takes an entry out of a list, and notes it; false where there is none.
func remove[T any](e *edit, from *list[T], name string) bool {
	was, ok := from.get(name)
	if ok {
		*from = from.without(name)
		e.note(name, was, nil)
	}
	return ok
}

func (c RemoveRegion) apply(e *edit) error {
	was, ok := e.regions.get(c.Name)
	if !ok {
		return unknownRegion(c.Name)
	}
	if names := e.namers(c.Name); len(names) > 0 {
		return refused("region %q is still named by %s", c.Name, atMost(names))
	}
	e.regions, e.generations = e.regions.without(c.Name), e.generations.without(c.Name)
	e.note(c.Name, was, nil)
	return nil
}

// namers lists what names a region and would be left without it.
func (s *State) namers(region string) []string {
	var out []string
	for r := range s.NamespaceRules() {
		if r.Region == region {
			out = append(out, fmt.Sprintf("the rule of namespace %q", r.Namespace))
		}
	}
	for a := range s.Aliases() {
		if a.From.Region == region || a.To.Region == region {
			out = append(out, fmt.Sprintf("the alias %s → %s", a.From, a.To))
		}
	}
	for r := range s.NamingRules() {
		if r.Region == region || r.ToRegion == region {
			out = append(out, fmt.Sprintf("the naming rule %s", r))
		}
	}
	for t := range s.Tables() {
		n := 0
		for _, m := range t.Members {
			if m.Region == region {
				n++
			}
		}
		if n > 0 {
			out = append(out, fmt.Sprintf("global table %q (%d members)", t.Name, n))
		}
	}
	return out
}

func (c SetGateway) apply(e *edit) error {
	if err := checkWord("gateway", c.Name); err != nil {
		return err
	}
	if err := checkText("serves", c.Serves, 2000); err != nil {
		return err
	}
	put(e, &e.gateways, c.Name, c.Gateway)
	return nil
}

func (c RemoveGateway) apply(e *edit) error {
	remove(e, &e.gateways, c.Name)
	return nil
}

func (c BeginGeneration) apply(e *edit) error {
	if _, ok := e.regions.get(c.Region); !ok {
		return unknownRegion(c.Region)
	}
	if err := checkText("epoch", c.Epoch, 200); err != nil {
		return err
	}
	if err := checkText("why", c.Why, 2000); err != nil {
		return err
	}
	was, ok := e.generations.get(c.Region)
	switch {
	case was.Number > c.Was: // somebody was first
		e.value = was.Number
		return nil
	case was.Number < c.Was:
		return refused("region %q: generation %d has not begun; it is at %d", c.Region, c.Was, was.Number)
	}
	e.lastGeneration++
	now := Generation{c.Region, e.lastGeneration, c.Epoch, c.Why}
	e.generations, e.value = e.generations.with(c.Region, now), now.Number
	e.noteSet(c.Region, was, ok, now)
	return nil
}

func unknownRegion(name string) error {
	return refused("there is no region %q; add it first", name)
}

// checkRegion refuses a region that is not there.
func (s *State) checkRegion(name string) error {
	if _, ok := s.regions.get(name); !ok {
		return unknownRegion(name)
	}
	return nil
}

// checkWord refuses what can't name a region, a gateway or a filter: receipts
// (eu@1042), revisions (eu#77), flags and addresses on the web hold it.
func checkWord(what, s string) error {
	if s == "" || len(s) > 64 {
		return refused("%s %q: a name of 1 to 64 characters is needed", what, s)
	}
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("-_.", r)) {
			return refused("%s %q: a name is letters a to z, digits, and - _ . within", what, s)
		}
	}
	return nil
}

// checkText refuses text that is empty, too long or no text.
func checkText(what, s string, most int) error {
	switch {
	case strings.TrimSpace(s) == "":
		return refused("%s is missing", what)
	case len(s) > most:
		return refused("%s has %d bytes; at most %d are taken", what, len(s), most)
	case !utf8.ValidString(s):
		return refused("%s is not UTF-8", what)
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }):
		return refused("%s holds control characters", what)
	}
	return nil
}
