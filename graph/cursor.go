package graph

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
)

// cursor is where a page ended: the level and id of its last node, for which
// question, on which state.
type cursor struct {
	Level    int    `json:"l"`
	ID       string `json:"i"`
	Question uint64 `json:"q"`
	Marks    uint64 `json:"m"`
}

func (q *Question) hash() uint64 {
	c := *q
	c.After, c.Limit, c.NodesOnly = "", 0, false
	h := fnv.New64a()
	fmt.Fprintf(h, "%+v", c)
	return h.Sum64()
}

func hashMarks(marks map[string]Mark) uint64 {
	h := fnv.New64a()
	for _, region := range slices.Sorted(maps.Keys(marks)) {
		fmt.Fprintf(h, "%s#%d ", region, marks[region].Revision)
	}
	return h.Sum64()
}

func (c cursor) String() string {
	b, err := json.Marshal(c)
	if err != nil {
		panic(err) // plain fields always marshal
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// A BadInputError says what is wrong with a question.
type BadInputError struct{ What string }

func (e *BadInputError) Error() string { return e.What }

func parseCursor(s string, question uint64) (c cursor, id ID, err error) {
	bad := &BadInputError{What: "after: not a cursor of an answer to this question"}
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || json.Unmarshal(b, &c) != nil || c.Question != question {
		return c, id, bad
	}
	if id, err = ParseID(c.ID); err != nil {
		return c, id, bad
	}
	return c, id, nil
}
