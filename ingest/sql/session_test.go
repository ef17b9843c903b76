package sql

import "testing"

// A session sees what earlier scripts left, in whichever order they are told.
func TestSessionContractsAcrossScripts(t *testing.T) {
	s := NewSession(Options{Dialect: "postgres"})
	d := Defaults{Database: "public"}
	s.Add("INSERT INTO report SELECT day, n FROM tmp", d)
	s.Add("CREATE TEMP TABLE tmp AS SELECT day, count(id) AS n FROM visits GROUP BY day", d)
	flows := s.Flows()
	if len(flows) != 1 {
		t.Fatalf("got %d flows, want 1", len(flows))
	}
	f := flows[0]
	if got := join(f.Inputs); got != "public.visits" {
		t.Errorf("got inputs %s, want public.visits", got)
	}
	if got := list(f.Outputs[1].Sources); got != " public.visits.id AGGREGATION" {
		t.Errorf("got sources%s of n, want public.visits.id AGGREGATION", got)
	}
}

func TestSessionFollowsRenames(t *testing.T) {
	s := NewSession(Options{Dialect: "redshift"})
	s.Add("CREATE TABLE stage AS SELECT a FROM src", Defaults{Catalog: "dev", Database: "public"})
	s.Rename([]string{"dev", "public", "stage"}, []string{"dev", "public", "final"})
	s.Temporary("dev", "public", "stage")
	flows := s.Flows()
	if len(flows) != 1 || flows[0].Table.Name != "final" || join(flows[0].Inputs) != "dev.public.src" {
		t.Errorf("got %v, want final from dev.public.src", flows)
	}
}
