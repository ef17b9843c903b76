package topology

import "sync/atomic"

// An index finds numbers by what they number: open addressing over numbers
// alone, which the caller compares. One writer adds; readers may look
// meanwhile, and find what was added before they began.
type index struct {
	slots atomic.Pointer[[]atomic.Uint32] // number + 1
	n     int
}

const firstSlots = 1 << 10

// find returns the number for which is returns true, among those whose hash
// is h.
func (x *index) find(h uint64, is func(n uint32) bool) (uint32, bool) {
	p := x.slots.Load()
	if p == nil {
		return 0, false
	}
	slots := *p
	mask := uint64(len(slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		v := slots[i].Load()
		if v == 0 {
			return 0, false
		}
		if is(v - 1) {
			return v - 1, true
		}
	}
}

// add adds a number that is not there; hash hashes any that is.
func (x *index) add(n uint32, h uint64, hash func(n uint32) uint64) {
	if p := x.slots.Load(); p == nil || (x.n+1)*5 > len(*p)*4 {
		x.resize(x.n*3/2+1, hash) // twice the slots
	}
	put(*x.slots.Load(), n, h)
	x.n++
}

// resize makes room for so many numbers.
func (x *index) resize(n int, hash func(n uint32) uint64) {
	size := firstSlots
	for size*4 < n*5 {
		size *= 2
	}
	slots := make([]atomic.Uint32, size)
	p := placing{slots: slots, hash: hash}
	if old := x.slots.Load(); old != nil {
		for i := range *old {
			if v := (*old)[i].Load(); v != 0 {
				p.add(v - 1)
			}
		}
	}
	p.place()
	x.slots.Store(&slots)
}

// fill adds the numbers below n to an index that is empty.
func (x *index) fill(n uint32, hash func(n uint32) uint64) {
	x.resize(int(n), nil)
	p := placing{slots: *x.slots.Load(), hash: hash}
	for i := range n {
		p.add(i)
	}
	p.place()
	x.n = int(n)
}

// A placing puts numbers into slots, many at once: what they number and the
// slots are looked at first, so that the memory answers for all of them
// together. To write a slot waits for it.
type placing struct {
	slots   []atomic.Uint32
	hash    func(n uint32) uint64
	n       int
	numbers [ahead]uint32
	hashes  [ahead]uint64
}

func (p *placing) add(n uint32) {
	p.numbers[p.n] = n
	if p.n++; p.n == ahead {
		p.place()
	}
}

func (p *placing) place() {
	mask := uint64(len(p.slots) - 1)
	for i, n := range p.numbers[:p.n] {
		p.hashes[i] = p.hash(n)
	}
	for _, h := range p.hashes[:p.n] {
		_ = p.slots[h&mask].Load()
	}
	for i, n := range p.numbers[:p.n] {
		put(p.slots, n, p.hashes[i])
	}
	p.n = 0
}

func put(slots []atomic.Uint32, n uint32, h uint64) {
	mask := uint64(len(slots) - 1)
	i := h & mask
	for slots[i].Load() != 0 {
		i = (i + 1) & mask
	}
	slots[i].Store(n + 1)
}

func (x *index) bytes() int64 {
	if p := x.slots.Load(); p != nil {
		return int64(len(*p)) * 4
	}
	return 0
}

// mix spreads the bits of a hash.
func mix(h uint64) uint64 {
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	h ^= h >> 32
	return h
}
