package sql

import (
	"strings"

	"headwater/ingest/sql/syntax"
)

// walkCall follows a function's arguments, each in the role that the function
// gives it.
func (r *resolver) walkCall(x *syntax.Call, s *scope, role Kind, in place, to *acc) {
	name := x.Func
	if name != "" && name[0] >= 'a' {
		name = strings.ToUpper(name)
	}
	if def := r.routine(x); def != nil {
		r.walkRoutine(def, x, s, role, in, to)
		return
	}
	if x.Over != nil {
		to.flags |= windowed
		r.walkWindow(x.Over, s, role, in, to)
	}
	inner := transformed(role)
	if r.isAggregate(name) || len(x.Within) > 0 && x.Over == nil {
		inner = role
		if role&Direct != 0 {
			inner = Aggregation
		}
		if x.Over == nil {
			to.flags |= aggregated
		}
	}
	if masking[name] && to.masked == "" {
		to.masked = name
	}
	if x.Filter != nil {
		r.walk(x.Filter, s, conditional(role), in, to)
	}
	for i := range x.Order {
		r.walk(x.Order[i].Expr, s, orderRole(role), in, to)
	}
	for i := range x.Within {
		r.walk(x.Within[i].Expr, s, inner, in, to)
	}
	if x.Query != nil {
		rel := r.query(x.Query, s)
		to.subs = append(to.subs, rel.node)
		to.deps = indirect(to.deps, rel.deps, rowRole(role))
		for _, c := range r.all(rel) {
			r.use(c, inner, to)
		}
	}
	r.walkArgs(x, name, s, role, inner, in, to)
}

func orderRole(role Kind) Kind {
	if role&Indirect != 0 {
		return role
	}
	return Window
}

// walkArgs gives each argument its role.
func (r *resolver) walkArgs(x *syntax.Call, name string, s *scope, role, inner Kind, in place, to *acc) {
	args := x.Args
	n := len(args)
	cond := conditional(role)
	switch name {
	case "COUNT":
		if x.Star {
			return
		}
		if n == 1 {
			if star, ok := args[0].(*syntax.Star); ok && len(star.Of) == 0 && !x.Distinct {
				return
			}
		}
	case "IF", "IFF", "IIF":
		if n >= 2 {
			r.walk(args[0], s, cond, in, to)
			r.walkAll(args[1:], s, inner, in, to)
			return
		}
	case "COALESCE", "NVL", "IFNULL", "ZEROIFNULL", "NULLIFZERO", "VALUE":
		for _, a := range args {
			r.walkTested(a, s, inner, cond, in, to)
		}
		return
	case "ISNULL":
		if n == 2 {
			r.walkTested(args[0], s, inner, cond, in, to)
			r.walkTested(args[1], s, inner, cond, in, to)
			return
		}
	case "NVL2":
		if n == 3 {
			r.walk(args[0], s, cond, in, to)
			r.walkAll(args[1:], s, inner, in, to)
			return
		}
	case "NULLIF":
		if n == 2 {
			r.walkTested(args[0], s, inner, cond, in, to)
			r.walk(args[1], s, cond, in, to)
			return
		}
	case "DECODE":
		if n >= 3 {
			r.walk(args[0], s, cond, in, to)
			for i := 1; i < n; i++ {
				if i%2 == 1 && i+1 < n {
					r.walk(args[i], s, cond, in, to)
				} else {
					r.walk(args[i], s, inner, in, to)
				}
			}
			return
		}
	case "VALUES":
		// The row that ON DUPLICATE KEY UPDATE would have inserted.
		if n == 1 && r.fresh != nil {
			if ref, ok := args[0].(*syntax.Ref); ok {
				r.use(r.find(r.fresh, lastPart(ref.Name)), role, to)
				return
			}
		}
	case "MULTIIF":
		for i := range args {
			if i%2 == 0 && i+1 < n {
				r.walk(args[i], s, cond, in, to)
			} else {
				r.walk(args[i], s, inner, in, to)
			}
		}
		return
	case "GROUPING", "GROUPING_ID":
		r.walkAll(args, s, cond, in, to)
		return
	case "DATE_TRUNC", "DATEDIFF", "DATEADD", "TIMESTAMPDIFF", "TIMESTAMPADD", "DATE_DIFF", "DATE_ADD", "DATE_SUB", "DATE_PART", "DATEPART", "DATENAME",
		"EXTRACT", "TIMESTAMP_TRUNC", "DATETIME_TRUNC", "TRUNC", "TIME_TRUNC", "TIMESTAMP_DIFF", "DATETIME_DIFF", "TIMEDIFF", "LAST_DAY", "ADD_TIME", "DATETIME_ADD",
		"DATETIME_SUB", "TIMESTAMP_ADD", "TIMESTAMP_SUB", "DATE_BUCKET", "DATETRUNC", "NEXT_DAY", "DATE_CEIL", "DATE_FLOOR", "CONVERT", "TRY_CONVERT":
		for i, a := range args {
			if ref, ok := a.(*syntax.Ref); ok && (i == 0 || i == n-1) && r.isUnit(ref, s, in) {
				continue
			}
			r.walk(a, s, inner, in, to)
		}
		return
	}
	if n >= 3 && strings.HasPrefix(name, "DICT") && r.dictionary(args[0], args[1], inner, to) {
		r.walkAll(args[2:], s, inner, in, to)
		return
	}
	// ClickHouse's sumIf(x, c): the last argument is a condition.
	if n >= 1 && (name == "COUNT_IF" || name == "COUNTIF") {
		r.walkAll(args, s, inner, in, to)
		return
	}
	last := n
	if inner == Aggregation && n >= 2 && strings.HasSuffix(name, "IF") && r.rules.name == "clickhouse" {
		last--
		r.walk(args[last], s, cond, in, to)
	}
	lambdas := false
	for _, a := range args[:last] {
		if _, ok := a.(*syntax.Lambda); ok {
			lambdas = true
		}
	}
	if lambdas {
		body := inner
		switch name {
		case "FILTER", "ARRAYFILTER", "ARRAY_FILTER", "LIST_FILTER", "MAP_FILTER":
			// It decides which elements stay.
			body = cond
		}
		r.walkLambdas(args[:last], s, inner, body, in, to)
		return
	}
	r.walkAll(args[:last], s, inner, in, to)
}

func (r *resolver) walkAll(args []syntax.Expr, s *scope, role Kind, in place, to *acc) {
	for _, a := range args {
		r.walk(a, s, role, in, to)
	}
}

// walkTested follows an expression that is both a value and what decides.
func (r *resolver) walkTested(e syntax.Expr, s *scope, role, cond Kind, in place, to *acc) {
	one := r.scratch()
	r.walk(e, s, role, in, one)
	one.deps = normal(one.deps)
	for i := range one.deps {
		one.deps[i].kinds |= cond
	}
	to.take(one)
	r.release(one)
}

// units are words that functions of time take in place of a value.
var units = words(`
YEAR YEARS QUARTER QUARTERS MONTH MONTHS WEEK WEEKS DAY DAYS HOUR HOURS MINUTE MINUTES SECOND SECONDS MILLISECOND MICROSECOND
NANOSECOND ISOWEEK ISOYEAR DAYOFWEEK DAYOFYEAR DOW DOY EPOCH YY YYYY QQ Q MM M DD D DY WK WW HH MI N SS S MS MCS NS W Y CENTURY DECADE
TSI_DAY DATE TIME TIMESTAMP DATETIME SQL_TSI_DAY SQL_TSI_MONTH SQL_TSI_YEAR SQL_TSI_HOUR SQL_TSI_MINUTE SQL_TSI_SECOND DAYOFWEEKISO
INT VARCHAR CHAR NVARCHAR DECIMAL FLOAT BIGINT
`)

// isUnit reports whether a reference in a function of time is a unit and no
// column that is known.
func (r *resolver) isUnit(ref *syntax.Ref, s *scope, in place) bool {
	if len(ref.Parts) != 1 || ref.Parts[0].Quoted || !units[strings.ToUpper(ref.Parts[0].Text)] {
		return false
	}
	return !r.bare(ref, ref.Parts[0], s, in, false).ok
}

// walkLambdas follows the arguments of a function that takes lambdas, their
// bodies in a role of their own: their parameters are made of the other
// arguments.
func (r *resolver) walkLambdas(args []syntax.Expr, s *scope, role, body Kind, in place, to *acc) {
	arg := r.scratch()
	for _, a := range args {
		if _, ok := a.(*syntax.Lambda); !ok {
			r.walk(a, s, Identity, in, arg)
		}
	}
	flags := columnFlags(0)
	if len(arg.from) == 1 {
		flags = unnest
	}
	element := r.newColumn(column{set: r.keepSet(arg), from: r.ints.keep(arg.from), node: -1, flags: flags})
	to.subs = append(to.subs, arg.subs...)
	r.release(arg)
	r.use(element, role, to)
	for _, a := range args {
		l, ok := a.(*syntax.Lambda)
		if !ok {
			continue
		}
		inner := &scope{parent: s}
		for _, p := range l.Params {
			inner.params = append(inner.params, param{p.Text, element})
		}
		r.walk(l.Body, inner, body, in, to)
	}
}

// walkWindow follows the keys of an OVER.
func (r *resolver) walkWindow(w *syntax.Window, s *scope, role Kind, in place, to *acc) {
	role = orderRole(role)
	for hops := 0; w != nil && hops < 8; hops++ {
		for _, e := range w.Partition {
			r.walk(e, s, role, in, to)
		}
		for i := range w.Order {
			r.walk(w.Order[i].Expr, s, role, in, to)
		}
		if w.Name.Text == "" {
			return
		}
		w = s.window(w.Name.Text)
	}
}

// window finds a window of the WINDOW clause.
func (s *scope) window(name string) *syntax.Window {
	for ; s != nil; s = s.parent {
		if s.sel == nil {
			continue
		}
		for i := range s.sel.tree.Windows {
			if strings.EqualFold(s.sel.tree.Windows[i].Name.Text, name) {
				return s.sel.tree.Windows[i].Window
			}
		}
		return nil
	}
	return nil
}

// dictionary reads ClickHouse's dictGet(dictionary, attribute, key): the
// dictionary is a table, named or as text.
func (r *resolver) dictionary(name, attribute syntax.Expr, role Kind, to *acc) bool {
	t := &syntax.Table{Span: name.Range()}
	switch x := name.(type) {
	case *syntax.Ref:
		t.Name = x.Name
	case *syntax.Literal:
		if x.Kind != "STRING" || x.Value == "" {
			return false
		}
		for _, p := range strings.Split(x.Value, ".") {
			t.Name.Parts = append(t.Name.Parts, syntax.Ident{Span: x.Span, Text: p})
		}
	default:
		return false
	}
	rel := r.scan(t)
	to.subs = append(to.subs, rel.node)
	if l, ok := attribute.(*syntax.Literal); ok && l.Kind == "STRING" {
		c := r.find(rel, l.Value)
		if c < 0 {
			c = r.behind(rel, l.Value, l)
		}
		r.use(c, role, to)
	}
	return true
}
