package nebula

import (
	"fmt"

	"github.com/vesoft-inc/nebula-go/v3/nebula"
)

// parameters makes what graphd takes of Go values: bool, int, int64, string,
// []byte and []string.
func parameters(params map[string]any) (map[string]*nebula.Value, error) {
	values := make(map[string]*nebula.Value, len(params))
	for name, p := range params {
		v, err := parameter(p)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", name, err)
		}
		values[name] = v
	}
	return values, nil
}

func parameter(p any) (*nebula.Value, error) {
	v := &nebula.Value{}
	switch p := p.(type) {
	case bool:
		v.BVal = &p
	case int:
		i := int64(p)
		v.IVal = &i
	case int64:
		v.IVal = &p
	case string:
		v.SVal = []byte(p)
	case []byte:
		// One that is nil would be no value at all.
		v.SVal = append(make([]byte, 0, len(p)), p...)
	case []string:
		// Ten thousand ids are one piece of memory, not three each.
		values, list := make([]nebula.Value, len(p)), make([]*nebula.Value, len(p))
		for i, s := range p {
			values[i].SVal = []byte(s)
			list[i] = &values[i]
		}
		v.LVal = &nebula.NList{Values: list}
	default:
		return nil, fmt.Errorf("a %T is not sent as a value of nGQL", p)
	}
	return v, nil
}
