package graph

import "testing"

// linkMap holds the aliases of names.
type linkMap map[ID][]ID

func (l linkMap) AliasTargets(id ID) ([]ID, error) { return l[id], nil }
func (l linkMap) AliasSources(ID) ([]ID, error)    { return nil, nil }
func (l linkMap) Life(ID) (Life, error)            { return nil, nil }

func TestWhatANameStandsForStandsForItself(t *testing.T) {
	id := func(b byte) ID { return ID{byte(DataStoreKind) << 6, b} }
	a, b, c, d, e := id(3), id(4), id(1), id(2), id(5)
	for name, links := range map[string]linkMap{
		"a ring whose names are all contested":   {c: {d, a, b}, d: {c, a, b}},
		"a ring with a way out for one name":     {c: {d}, d: {c, a}},
		"a ring with two ways out":               {c: {d, a}, d: {c, b}},
		"a ring without a way out":               {c: {d}, d: {e}, e: {c}},
		"two rings, one behind the other":        {a: {b}, b: {a, c}, c: {d}, d: {c}},
		"a contested name behind a ring":         {a: {b}, b: {a, c}, c: {d, e}},
		"a name that stands for itself and more": {a: {a, b}},
	} {
		nodes := map[ID]ID{}
		for _, first := range []ID{a, b, c, d, e} {
			r := NewResolver(links, Forever)
			for _, from := range []ID{first, a, b, c, d, e} {
				node, err := r.Node(from)
				if err != nil {
					t.Fatal(err)
				}
				if again, _ := r.Node(node); again != node {
					t.Errorf("%s: %s stands for %s, which stands for %s", name, from, node, again)
				}
				if was, ok := nodes[from]; ok && was != node {
					t.Errorf("%s: %s stands for %s or for %s, as it is asked", name, from, was, node)
				}
				nodes[from] = node
			}
		}
	}
}
