package nebula

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"headwater/graph/pebble"
)

// Options say where the graph is and what may be used for it. Addresses,
// Space and Region are needed; the rest has defaults.
type Options struct {
	// Addresses are those of graphd, host:port. They are tried in turn.
	Addresses []string
	// User and Password are those of NebulaGraph. Default: root, nebula.
	User, Password string
	// Space is the graph space: letters, digits and _, a letter first.
	Space string
	// Region is the region whose graph this is.
	Region string
	// Init makes the space and its schema where they are not there.
	Init bool
	// Partitions and Replicas are those of a space that is made. Default: 10
	// and 1.
	Partitions, Replicas int
	// Sessions is how many statements may run at once. Default: 8.
	Sessions int
	// Timeout is how long one statement may take. Default: 65 seconds, so that
	// graphd, which waits 60 for storaged, speaks first.
	Timeout time.Duration
	// Tries is how often a statement is sent, while what fails may pass. The
	// waits between add up to 1.3 seconds for 8, which is longer than parts of
	// the graph are without a leader. Default: 8.
	Tries int
	// OnDisk: flows are read from NebulaGraph, not kept in memory.
	OnDisk bool
	// TopologyBytes is how large the flows in memory may be. Beyond, they are
	// read from NebulaGraph. Default: 4 GiB.
	TopologyBytes int64
	// CacheBytes is the size of the cache of flows, where they are not kept in
	// memory. Default: 256 MiB; less than 0 is none.
	CacheBytes int64
	// HubRows is how many rows of one vertex are read before it is seen to that
	// storaged did not cut them short. Default: 10,000.
	HubRows int
	// Folder says how the region's folder is opened. What is said above holds:
	// its Region, OnDisk, TopologyBytes, Log and Elsewhere need not be set.
	Folder pebble.Options
	Log    *slog.Logger

	// poll is the wait between looks at a schema that is not usable yet, wait
	// how long it may take to become so.
	poll, wait time.Duration
	// hold is how long something that was given up may still have its effect.
	hold time.Duration
}

func (o *Options) defaults() {
	if o.User == "" {
		o.User, o.Password = "root", "nebula"
	}
	if o.Partitions == 0 {
		o.Partitions = 10
	}
	if o.Replicas == 0 {
		o.Replicas = 1
	}
	if o.Sessions == 0 {
		o.Sessions = 8
	}
	if o.Timeout == 0 {
		o.Timeout = 65 * time.Second
	}
	if o.Tries == 0 {
		o.Tries = 8
	}
	if o.TopologyBytes == 0 {
		o.TopologyBytes = 4 << 30
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = 256 << 20
	}
	if o.HubRows == 0 {
		o.HubRows = 10_000
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.hold == 0 {
		// Twice what graphd waits for storaged.
		o.hold = 2 * time.Minute
	}
	if o.poll == 0 {
		o.poll = 200 * time.Millisecond
	}
	if o.wait == 0 {
		// A heartbeat is 10 seconds, and a new space takes two: three, and as
		// much again for those who are slow.
		o.wait = time.Minute
	}
}

// Names of spaces go into statements as they are.
var spaceName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,62}$`)

// Validate says what is wrong with the options.
func (o *Options) Validate() error {
	switch {
	case len(o.Addresses) == 0:
		return errors.New("nebula: no address of a graphd")
	case !spaceName.MatchString(o.Space):
		return fmt.Errorf("nebula: space %q: its name is letters, digits and _, a letter first", o.Space)
	case o.Region == "":
		return errors.New("nebula: Options.Region is empty")
	case o.Sessions < 0 || o.Timeout < 0 || o.Tries < 0 || o.Partitions < 0 || o.Replicas < 0:
		return errors.New("nebula: sessions, timeout, tries, partitions and replicas are not less than 0")
	}
	for _, a := range o.Addresses {
		if _, port, err := net.SplitHostPort(a); err != nil || port == "" {
			return fmt.Errorf("nebula: address %q is not host:port", a)
		}
	}
	return nil
}

// Scheme is what the URL of a graph in NebulaGraph begins with.
const Scheme = "nebula://"

// defaultPort is that of graphd.
const defaultPort = "9669"

// ParseURL reads where a graph is:
//
//	nebula://user:password@host:9669,host2:9669/space?partitions=10&replicas=1
//
// User and password may be left out, or be percent-encoded; the port is 9669
// where none is given; the last two are used when the space is made.
func ParseURL(s string) (Options, error) {
	var o Options
	// An error does not show the password.
	bad := func(what string) (Options, error) {
		return Options{}, fmt.Errorf("%s; it is nebula://user:password@host:9669,host2:9669/space", what)
	}
	rest, ok := strings.CutPrefix(s, Scheme)
	if !ok {
		return bad("the URL of a graph in NebulaGraph begins with " + Scheme)
	}
	rest, query, _ := strings.Cut(rest, "?")
	if strings.Contains(query, "@") { // a piece of a password
		return bad("user and password are percent-encoded")
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		user, password, _ := strings.Cut(rest[:at], ":")
		var err, err2 error
		o.User, err = url.PathUnescape(user)
		o.Password, err2 = url.PathUnescape(password)
		if err != nil || err2 != nil || o.User == "" {
			return bad("user and password are percent-encoded")
		}
		rest = rest[at+1:]
	}
	hosts, space, _ := strings.Cut(rest, "/")
	if strings.Contains(hosts+space, "@") {
		return bad("user and password are percent-encoded")
	}
	for host := range strings.SplitSeq(hosts, ",") {
		if host == "" {
			return bad("a host is empty")
		}
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(strings.Trim(host, "[]"), defaultPort)
		}
		o.Addresses = append(o.Addresses, host)
	}
	if !spaceName.MatchString(space) {
		return bad(fmt.Sprintf("space %q: its name is letters, digits and _, a letter first", space))
	}
	o.Space = space
	values, err := url.ParseQuery(query)
	if err != nil {
		return bad("what follows the ? is not name=value")
	}
	for name, v := range values {
		n, err := strconv.Atoi(v[0])
		if err != nil || n < 1 || len(v) > 1 {
			return bad(name + " is a number from 1 on")
		}
		switch name {
		case "partitions":
			o.Partitions = n
		case "replicas":
			o.Replicas = n
		default:
			return bad(name + " is not known")
		}
	}
	return o, nil
}
