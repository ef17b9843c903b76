package catalog

import "headwater/graph"

// SetFilter adds a filter or changes it.
type SetFilter struct{ Filter }

// RemoveFilter ends a filter.
type RemoveFilter struct {
	Name string `json:"name"`
}

// SetNotice adds a notice or changes it.
type SetNotice struct{ Notice }

// RemoveNotice ends a notice.
type RemoveNotice struct {
	Name string `json:"name"`
}

func (SetFilter) kind() string    { return "filter.set" }
func (RemoveFilter) kind() string { return "filter.remove" }
func (SetNotice) kind() string    { return "notice.set" }
func (RemoveNotice) kind() string { return "notice.remove" }

func (c SetFilter) apply(e *edit) error {
	if err := checkWord("filter", c.Name); err != nil {
		return err
	}
	if err := checkPicks("filter", c.Name, c.Match, c.Owner); err != nil {
		return err
	}
	if err := checkText("reason", c.Reason, 2000); err != nil {
		return err
	}
	put(e, &e.filters, c.Name, c.Filter)
	return nil
}

func (c RemoveFilter) apply(e *edit) error {
	if !remove(e, &e.filters, c.Name) {
		return refused("there is no filter %q", c.Name)
	}
	return nil
}

func (c SetNotice) apply(e *edit) error {
	if err := checkWord("notice", c.Name); err != nil {
		return err
	}
	if err := checkPicks("notice", c.Name, c.Match, c.Owner); err != nil {
		return err
	}
	if err := checkText("text", c.Text, 2000); err != nil {
		return err
	}
	put(e, &e.notices, c.Name, c.Notice)
	return nil
}

func (c RemoveNotice) apply(e *edit) error {
	if !remove(e, &e.notices, c.Name) {
		return refused("there is no notice %q", c.Name)
	}
	return nil
}

func checkPicks(what, name string, p Pattern, owner string) error {
	if p.picksAll() {
		return refused("%s %q would pick every node; give a namespace, a name or a tag", what, name)
	}
	for _, part := range [...]string{p.Namespace, p.Name, p.Tag} {
		if part != "" {
			if err := checkText("pattern", part, graph.MaxName); err != nil {
				return err
			}
		}
	}
	return checkText("owner", owner, 200)
}

// Hidden returns the first filter, by name, that hides a node.
func (s *State) Hidden(n graph.Name, tags []string) (Filter, bool) {
	for f := range s.Filters() {
		if f.Match.Fits(n, tags) {
			return f, true
		}
	}
	return Filter{}, false
}
