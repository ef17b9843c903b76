package topology

import "testing"

func TestAnIndexFindsWhatItWasFilledWithAndWhatWasAddedLater(t *testing.T) {
	hash := func(n uint32) uint64 { return mix(uint64(n) / 3) } // some share theirs
	found := func(x *index, n uint32) bool {
		got, ok := x.find(hash(n), func(m uint32) bool { return m == n })
		return ok && got == n
	}
	for _, filled := range []uint32{0, 1, ahead - 1, ahead, ahead + 1, 10 * firstSlots} {
		var x index
		x.fill(filled, hash)
		more := 3*filled + 2*firstSlots // it has to grow
		for n := filled; n < more; n++ {
			if found(&x, n) {
				t.Fatalf("filled with %d: %d is found before it is added", filled, n)
			}
			x.add(n, hash(n), hash)
		}
		for n := range more {
			if !found(&x, n) {
				t.Fatalf("filled with %d: %d of %d is not found", filled, n, more)
			}
		}
		if found(&x, more) {
			t.Errorf("filled with %d: %d is found, which was not added", filled, more)
		}
	}
}
