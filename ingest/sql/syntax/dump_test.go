package syntax

import (
	"fmt"
	"strings"
)

// dump writes a tree as indented lines: a node's type, what it says besides its
// children, and its text where that is short.
func dump(s *Script) string {
	var b strings.Builder
	for _, st := range s.Statements {
		dumpNode(&b, s.Text, st, 0)
		for _, w := range st.Warnings {
			kind := "warning"
			if w.Error {
				kind = "error"
			}
			fmt.Fprintf(&b, "  %s: %s: %s\n", kind, w.Reason, quote(s.Text, w.Span))
		}
	}
	return b.String()
}

func dumpNode(b *strings.Builder, text string, n Node, depth int) {
	name := strings.TrimPrefix(fmt.Sprintf("%T", n), "*syntax.")
	switch n.(type) {
	case *Name, *Ident:
		if _, ok := n.(*Name); ok {
			fmt.Fprintf(b, "%s%s %s\n", strings.Repeat("  ", depth), name, quote(text, n.Range()))
			return // its parts are its text
		}
	}
	fmt.Fprintf(b, "%s%s%s %s\n", strings.Repeat("  ", depth), name, says(n), quote(text, n.Range()))
	if r, ok := n.(*Ref); ok && len(r.Parts) > 0 {
		return
	}
	root := true
	Inspect(n, func(c Node) bool {
		if root {
			root = false
			return true
		}
		dumpNode(b, text, c, depth+1)
		return false
	})
}

func quote(text string, s Span) string {
	t := strings.Join(strings.Fields(s.In(text)), " ")
	if r := []rune(t); len(r) > 48 {
		t = string(r[:30]) + " … " + string(r[len(r)-14:])
	}
	return "‹" + t + "›"
}

// says tells what a node says that is no node.
func says(n Node) string {
	var w []string
	flag := func(on bool, name string) {
		if on {
			w = append(w, name)
		}
	}
	val := func(name, v string) {
		if v != "" {
			w = append(w, name+"="+v)
		}
	}
	switch x := n.(type) {
	case *Literal:
		val("kind", x.Kind)
		val("value", x.Value)
	case *Variable:
		val("name", x.Name)
	case *Op:
		flag(x.Not, "not")
		val("op", x.Op)
	case *Call:
		val("func", x.Func)
		flag(x.Distinct, "distinct")
		flag(x.Star, "star")
		val("names", strings.Trim(strings.Join(x.Names, ","), ","))
		flag(len(x.Params) > 0, fmt.Sprintf("params=%d", len(x.Params)))
		flag(len(x.Order) > 0, fmt.Sprintf("order=%d", len(x.Order)))
		flag(len(x.Within) > 0, fmt.Sprintf("within=%d", len(x.Within)))
		flag(x.Filter != nil, "filter")
	case *Sub:
		flag(x.Not, "not")
		val("kind", x.Kind)
		val("op", x.Op)
	case *Window:
		flag(len(x.Partition) > 0, fmt.Sprintf("partition=%d", len(x.Partition)))
		flag(len(x.Order) > 0, fmt.Sprintf("order=%d", len(x.Order)))
		flag(x.Frame.End > x.Frame.Start, "frame")
	case *List:
		val("kind", x.Kind)
	case *Star:
		flag(len(x.Except) > 0, "except")
		flag(len(x.Replace) > 0, "replace")
		flag(len(x.Rename) > 0, "rename")
		val("pattern", x.Pattern)
	case *Field:
		flag(x.Star, "star")
	case *Type:
		val("name", x.Name)
	case *Option:
		val(x.Key, x.Value)
	case *ColumnDef:
		flag(x.Metadata, "metadata")
		val("comment", x.Comment)
	case *Select:
		flag(x.Distinct, "distinct")
		flag(x.AsStruct, "struct")
		flag(x.Into != nil, "into")
		flag(x.IntoTemp, "temporary")
	case *SetOp:
		val("op", x.Op)
		flag(x.All, "all")
		flag(x.ByName, "by-name")
	case *With:
		flag(x.Recursive, "recursive")
	case *GroupBy:
		flag(x.All, "all")
	case *OrderItem:
		flag(x.Desc, "desc")
	case *Join:
		val("kind", x.Kind)
		flag(x.Comma, "comma")
		flag(x.Natural, "natural")
		flag(x.Asof, "asof")
		flag(len(x.Using) > 0, "using")
	case *Table:
		val("path", x.Path)
		flag(x.Stage, "stage")
	case *Derived:
		flag(x.Lateral, "lateral")
	case *TableFunc:
		flag(x.Lateral, "lateral")
		flag(x.Ordinality, "ordinality")
		val("offset", x.OffsetName.Text)
	case *LateralView:
		flag(x.Outer, "outer")
	case *Pivot:
		flag(x.Any, "any")
	case *MatchRecognize:
		flag(x.AllRows, "all-rows")
	case *Transform:
		val("using", x.Using)
	default:
		return saysBody(n)
	}
	return join(w)
}

func join(w []string) string {
	if len(w) == 0 {
		return ""
	}
	return " " + strings.Join(w, " ")
}

func saysBody(n Node) string {
	var w []string
	flag := func(on bool, name string) {
		if on {
			w = append(w, name)
		}
	}
	val := func(name, v string) { flag(v != "", name+"="+v) }
	switch x := n.(type) {
	case *Insert:
		flag(x.Overwrite, "overwrite")
		flag(x.Replace, "replace")
		flag(x.ByName, "by-name")
	case *MergeAction:
		flag(x.Matched, "matched")
		flag(x.BySource, "by-source")
		val("verb", x.Verb)
		flag(x.Star, "star")
	case *Copy:
		val("verb", x.Verb)
		flag(x.From, "from")
		val("paths", strings.Join(x.Paths, ","))
		for _, s := range x.Stages {
			var parts []string
			for _, p := range s.Parts {
				parts = append(parts, p.Text)
			}
			w = append(w, "stage="+strings.Join(parts, "."))
		}
	case *CreateTable:
		flag(x.Temporary, "temporary")
		flag(x.External, "external")
		flag(x.Replace, "replace")
		flag(x.IfAbsent, "if-absent")
		flag(x.Clone, "clone")
		val("location", x.Location)
		val("using", x.Using)
	case *CreateView:
		flag(x.Materialized, "materialized")
		flag(x.Temporary, "temporary")
		flag(x.Replace, "replace")
		flag(x.Dynamic, "dynamic")
		val("using", x.Using)
		val("location", x.Location)
	case *Alter:
		val("object", x.Object)
	case *AlterAction:
		val("verb", x.Verb)
		val("location", x.Location)
	case *Rename:
		flag(x.Swap, "swap")
	case *Drop:
		val("object", x.Object)
		flag(x.IfExists, "if-exists")
		flag(x.Temporary, "temporary")
	case *Use:
		val("object", x.Object)
	case *Set:
		val("name", x.Name)
	case *Block:
		val("what", x.What)
	case *Other:
		val("verb", x.Verb)
		flag(!x.Known, "unknown")
	}
	return join(w)
}
