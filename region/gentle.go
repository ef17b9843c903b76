package region

import "time"

// While questions are asked on a machine of few cores, a batch is small, is
// planned and written in turn, and is followed by as long a rest, so that the
// questions find a core; but not when what was acknowledged has waited for too
// long.
const (
	fewCores      = 3
	gentleEntries = 64
	askedNow      = 200 * time.Millisecond
	waitsLong     = 30 * time.Second
)

func (n *Node) gently(cores int) bool {
	if cores > fewCores || time.Since(time.Unix(0, n.asked.Load())) > askedNow {
		return false
	}
	_, last := n.log.Bounds()
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lag(last) < waitsLong
}
