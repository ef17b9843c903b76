package catalog

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// A replica that is opened again answers by what it had taken, at once, leader
// or none.
func TestAReplicaIsWhatItWas(t *testing.T) {
	for _, changes := range []int{0, 3, 60} { // of the last most are in a snapshot
		t.Run(fmt.Sprint(changes), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, 1)
				for i := range changes {
					if _, err := c.nodes["g1"].Change(t.Context(), Command{Who: "test", Do: SetRegion{Region{Name: fmt.Sprint("r", i), Addresses: []string{fmt.Sprint("r", i, ":1")}}}}); err != nil {
						t.Fatal(err)
					}
					time.Sleep(100 * time.Millisecond) // snapshots are looked for now and then
				}
				time.Sleep(time.Second) // it is saved soon after
				was, _ := c.nodes["g1"].Now()
				if err := c.nodes["g1"].Close(); err != nil {
					t.Fatal(err)
				}
				r := c.open(c.peers[0], c.peers)
				if is, age := r.Now(); is.Version() != was.Version() || age.Leader != "" {
					t.Errorf("it is at version %d, and was at %d; leader %q", is.Version(), was.Version(), age.Leader)
				}
				if err := r.Close(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}
