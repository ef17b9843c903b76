package nebula

import (
	"context"
	"fmt"
)

// dropSpace is DROP SPACE [IF EXISTS] name.
const dropSpace = "DROP SPACE IF EXISTS "

// Drop drops the space that o names, with all that is in it, if it is there. It
// tries again while what fails may pass, until ctx ends.
func Drop(ctx context.Context, o Options) error {
	p, err := dial(ctx, &o)
	if err != nil {
		return fmt.Errorf("drop space %s: %w", o.Space, err)
	}
	defer p.close()
	if _, err := p.patient(ctx, false, never, dropSpace+o.Space); err != nil {
		return fmt.Errorf("drop space %s: %w", o.Space, err)
	}
	return nil
}
