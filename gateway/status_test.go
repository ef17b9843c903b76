package gateway

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A gateway is ready once it has read what the regions that it reaches have; a
// region that is down does not keep it from that.
func TestAGatewayIsReadyOnceItHasReadTheRegionsThatAreUp(t *testing.T) {
	eu, us := startSite(t, "eu", vfs.NewMem()), startSite(t, "us", vfs.NewMem())
	us.now().stop()
	g := startGateway(t, eu, us)
	eventually(t, "it is ready", func() bool { return g.Starting() == "" })
	if f := g.follower("eu"); !f.isWhole() {
		t.Error("it says that it is ready before it has read region eu")
	}
	if st := g.Status(t.Context()); len(st) != 2 || !st[0].Healthy || st[0].Lag != 0 {
		t.Errorf("status %+v: want eu well and not behind", st)
	}
	if f := g.follower("us"); f.isWhole() || !f.fails() {
		t.Error("region us seems to be read, though it is down")
	}
	f := g.follower("eu")
	f.mu.Lock()
	f.whole = false
	f.mu.Unlock()
	if why := g.Starting(); why != `region "eu" is being read` {
		t.Errorf("it says %q when a region that is up is not read", why)
	}
}
