package catalog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// anyName draws from so few names that rules meet each other.
func anyName(t *rapid.T, what string) Name {
	return Name{
		rapid.SampledFrom([]string{"eu", "us", "asia"}).Draw(t, what+" region"),
		rapid.SampledFrom([]string{"hive://m", "HIVE://m", "s3://b", "trino://t"}).Draw(t, what+" namespace"),
		rapid.SampledFrom([]string{"a", "A", "b", "x.a", "x.b", "x.x.a"}).Draw(t, what+" name"),
	}
}

func anyNames(t *rapid.T, what string) []Name {
	var out []Name
	for i := range rapid.IntRange(0, 3).Draw(t, what) {
		out = append(out, anyName(t, fmt.Sprint(what, i)))
	}
	return out
}

func anyChange(t *rapid.T) Change {
	region := rapid.SampledFrom([]string{"eu", "us", "asia"}).Draw(t, "region")
	table := rapid.SampledFrom([]string{"t1", "t2", "t3"}).Draw(t, "table")
	kind := rapid.SampledFrom([]TableKind{Partitioned, Replicated, Partitioned, ""}).Draw(t, "kind")
	n := anyName(t, "at")
	prefix := rapid.SampledFrom([]string{"", "x.", "x.x."})
	switch rapid.IntRange(0, 15).Draw(t, "what") {
	case 0, 1:
		return SetRegion{Region{region, []string{region + rapid.SampledFrom([]string{":1", ":2"}).Draw(t, "port")}, ""}}
	case 2:
		return RemoveRegion{region}
	case 3:
		apart := rapid.IntRange(0, 4).Draw(t, "apart") == 0
		if apart {
			region = ""
		}
		return SetNamespaceRule{NamespaceRule{n.Namespace, region, apart, ""}, rapid.SampledFrom([]string{"", "eu", "us"}).Draw(t, "was")}
	case 4:
		return RemoveNamespaceRule{n.Namespace}
	case 5, 6:
		return SetAlias{Alias{n, anyName(t, "to"), ""}}
	case 7:
		return RemoveAlias{n}
	case 8, 9:
		r := NamingRule{Namespace: n.Namespace, Prefix: prefix.Draw(t, "prefix"), ToNamespace: anyName(t, "to").Namespace, ToPrefix: prefix.Draw(t, "toPrefix")}
		if rapid.Bool().Draw(t, "for one region") {
			r.Region, r.ToRegion = region, n.Region
		}
		return SetNamingRule{r}
	case 10:
		return RemoveNamingRule{region, n.Namespace, prefix.Draw(t, "prefix")}
	case 11:
		return DeclareTable{table, kind, anyNames(t, "members")}
	case 12:
		return DeclareMembers{table, anyNames(t, "add"), anyNames(t, "remove")}
	case 13:
		return RemoveTable{table}
	case 14:
		var fed []Fed
		for i := range rapid.IntRange(0, 3).Draw(t, "fed") {
			m := anyName(t, fmt.Sprint("fed", i))
			fed = append(fed, Fed{rapid.SampledFrom([]string{"t1", "t2", "t4"}).Draw(t, "fed table"), kind, m.Namespace, m.Name})
		}
		return FeedMembers{region, fed}
	default:
		return BeginGeneration{region, uint64(rapid.IntRange(0, 3).Draw(t, "generation")), "e", "test"}
	}
}

// anyLog draws commands, some of which come again.
func anyLog(t *rapid.T, most int) [][]byte {
	var log [][]byte
	for i := range rapid.IntRange(1, most).Draw(t, "commands") {
		c := Command{ID: fmt.Sprint("c", i), Seen: uint64(max(0, i-3)), Who: "ann", At: int64(i), Do: anyChange(t)}
		if i < 2 { // else most of it is refused for want of regions
			c.Do = SetRegion{Region{[]string{"eu", "us"}[i], []string{fmt.Sprint("h", i, ":1")}, ""}}
		}
		b, err := c.Encode()
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, b)
		if rapid.IntRange(0, 5).Draw(t, "again") == 0 {
			log = append(log, log[rapid.IntRange(0, len(log)-1).Draw(t, "which")])
		}
	}
	return log
}

// TestReplicasAreEqual: the same commands give the same bytes, wherever a
// snapshot is taken on the way, and what comes again changes nothing.
func TestReplicasAreEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := anyLog(t, 60)
		cut := rapid.IntRange(0, len(log)).Draw(t, "cut")
		a, b, once := New(), New(), New()
		first := map[string]string{}
		for i, c := range log {
			if i == cut {
				var err error
				if b, err = Restore(strings.NewReader(image(t, b))); err != nil {
					t.Fatal(err)
				}
			}
			before := image(t, a)
			next, ra, ea := a.ApplyEncoded(c)
			if image(t, a) != before {
				t.Fatalf("command %s changed the state that it was applied to", c)
			}
			_, comesAgain := first[string(c)]
			a = next
			nb, rb, eb := b.ApplyEncoded(c)
			b = nb
			if ra != rb || fmt.Sprint(ea) != fmt.Sprint(eb) {
				t.Fatalf("command %s: one replica answers %v %v, another %v %v", c, ra, ea, rb, eb)
			}
			answer := fmt.Sprint(ra, ea)
			if was, ok := first[string(c)]; ok && was != answer {
				t.Fatalf("command %s: first %s, again %s", c, was, answer)
			}
			first[string(c)] = answer
			if !comesAgain {
				once, _, _ = once.ApplyEncoded(c)
			} else if image(t, a) != before {
				t.Fatalf("command %s: changed the state when it came again", c)
			}
			check(t, a)
		}
		if image(t, a) != image(t, b) || image(t, a) != image(t, once) {
			t.Fatalf("replicas differ:\n%s\n%s\n%s", image(t, a), image(t, b), image(t, once))
		}
		back, err := Restore(strings.NewReader(image(t, a)))
		if err != nil || image(t, back) != image(t, a) || !slices.EqualFunc(back.owners, a.owners, func(x, y row[*owner]) bool { return x.key == y.key && *x.value == *y.value }) {
			t.Fatalf("restored: %v\n%v\n%v", err, a.owners, back.owners)
		}
	})
}

// check says, the slow way, what must hold of every state.
func check(t *rapid.T, s *State) {
	place := map[string]owner{}
	for table := range s.Tables() {
		if !table.Declared && len(table.Members) == 0 {
			t.Fatalf("global table %s is of nobody", table.Name)
		}
		for _, m := range table.Members {
			if _, ok := s.Region(m.Region); !ok {
				t.Fatalf("member %s of %s: no region", m, table.Name)
			}
			key := s.place(m.Name)
			if o, ok := place[key]; ok {
				t.Fatalf("%s of %s and %s of %s are one", m, table.Name, o.member, o.table)
			}
			place[key] = owner{table.Name, m.Name}
			if got, ok := s.TableOf(m.Graph()); !ok || got.Name != table.Name {
				t.Fatalf("TableOf(%s) = %s, %v; want %s", m, got.Name, ok, table.Name)
			}
		}
	}
	if len(place) != len(s.owners) {
		t.Fatalf("owners %v, want %v", s.owners, place)
	}
	for _, region := range []string{"eu", "us", "asia"} {
		_, there := s.Region(region)
		if names := s.namers(region); !there && len(names) > 0 {
			t.Fatalf("region %s is gone and named by %s", region, names)
		}
		for _, ns := range []string{"hive://m", "s3://b", "trino://t"} {
			for _, name := range []string{"a", "b", "x.a", "x.b", "x.x.a"} {
				end := s.Resolve(Name{region, ns, name}.Graph())
				if next, more := s.step(nameOf(end)); more {
					t.Fatalf("%s %s %s stands for %s, which goes on to %s", region, ns, name, end, next)
				}
			}
		}
	}
	if n := uint64(len(s.audit)); n != min(s.version, auditKept) {
		t.Fatalf("version %d with %d entries in the audit trail", s.version, n)
	}
}

// TestOldCommandsAreRefusedOnceTheirIdsAreForgotten: a retry that comes after
// thousands of others is never made twice.
func TestOldCommandsAreRefusedOnceTheirIdsAreForgotten(t *testing.T) {
	s := New()
	do := func(id string, seen uint64, c Change) error {
		var err error
		s, _, err = s.Apply(Command{ID: id, Seen: seen, Who: "ann", Do: c})
		return err
	}
	eu := SetRegion{Region{"eu", []string{"eu:1"}, ""}}
	if err := do("first", 0, eu); err != nil {
		t.Fatal(err)
	}
	for i := range receiptsKept {
		if i == receiptsKept-1 {
			if err := do("first", 0, eu); err != nil {
				t.Fatalf("known still: %v", err)
			}
		}
		if err := do(fmt.Sprint(i), s.Seq(), SetRegion{Region{"us", []string{fmt.Sprint("us:", i%2)}, ""}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := do("first", 0, eu); err == nil || !strings.Contains(err.Error(), "not known any more") {
		t.Fatalf("a command from long ago: %v", err)
	}
	if len(s.order) != receiptsKept || len(s.receipts) != receiptsKept || len(s.audit) != auditKept {
		t.Fatalf("kept %d, %d receipts and %d entries", len(s.order), len(s.receipts), len(s.audit))
	}
	back, err := Restore(strings.NewReader(image(t, s)))
	if err != nil || image(t, back) != image(t, s) {
		t.Fatalf("restored: %v", err)
	}
}

// TestDamagedSnapshotsAreRefused: at any byte.
func TestDamagedSnapshotsAreRefused(t *testing.T) {
	s := New()
	s, _, _ = s.Apply(Command{ID: "1", Who: "ann", Do: SetRegion{Region{"eu", []string{"eu:1"}, ""}}})
	whole := image(t, s)
	for i := range len(whole) {
		if _, err := Restore(strings.NewReader(whole[:i])); err == nil {
			t.Errorf("cut at %d: taken", i)
		}
		for _, x := range []byte{1, 0x20} {
			b := []byte(whole)
			b[i] ^= x
			if got, err := Restore(bytes.NewReader(b)); err == nil && image(t, got) != whole {
				t.Errorf("byte %d changed: taken as\n%s", i, image(t, got))
			}
		}
	}
	if _, err := Restore(strings.NewReader(`{"catalog":2,"seq":0,"version":0,"lastGeneration":0}` + "\n")); err == nil || !strings.Contains(err.Error(), "format 2") {
		t.Errorf("a format from later: %v", err)
	}
}

// FuzzApply: no bytes stop a replica.
func FuzzApply(f *testing.F) {
	for kind := range changesByKind {
		f.Add([]byte("\x01" + `{"id":"1","who":"ann","do":"` + kind + `","with":{}}`))
	}
	f.Add([]byte("\x01" + `{"id":"1","who":"ann","do":"alias.set","with":{"from":{"region":"eu"}}}`))
	f.Add([]byte{2})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, _, _ := New().Apply(Command{ID: "0", Who: "ann", Do: SetRegion{Region{"eu", []string{"eu:1"}, ""}}})
		next, _, err := s.ApplyEncoded(b)
		if err != nil && !strings.HasPrefix(err.Error(), "refused: ") {
			t.Errorf("%q: %v", b, err)
		}
		if back, err := Restore(strings.NewReader(image(t, next))); err != nil || image(t, back) != image(t, next) {
			t.Errorf("%q: restored: %v", b, err)
		}
	})
}
