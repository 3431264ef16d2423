package insertbench

import (
	"context"
	"fmt"
	"strconv"

	"dbmatrix/executor/workload"
	"dbmatrix/matrix"
)

// A benchmark is a phase of the insert benchmark.
type benchmark struct {
	config

	// scanned is how many rows all tables have, once a scan step has
	// counted them.
	scanned int64
}

func newWorkload(args matrix.Args) (workload.Workload, error) {
	c, faults := decode(args, matrix.Build{})
	if len(faults) > 0 {
		return nil, fmt.Errorf("insert_benchmark: %s: %s; %s", faults[0].Attribute, faults[0].Summary, faults[0].Detail)
	}
	return &benchmark{config: c}, nil
}

// Run does one iteration of the step.
func (b *benchmark) Run(ctx context.Context, t workload.Target, r *workload.Recorder) error {
	if b.seed != nil {
		t.Seed = *b.seed
	}
	r.Fact("seed", strconv.FormatInt(t.Seed, 10))
	if t.Warmup > 0 && b.step != stepQuery {
		return fmt.Errorf("insert_benchmark: the step %s cannot be warmed up: take warmup out of the phase", b.step)
	}
	if b.firstClient {
		r.OnlyFirstClient()
	}
	var err error
	switch b.step {
	case stepLoad:
		err = b.load(ctx, t, r)
	case stepScan:
		err = b.scan(ctx, t, r)
	case stepQuery:
		err = b.query(ctx, t, r)
	default:
		err = fmt.Errorf("there is no step %q", b.step)
	}
	if err != nil {
		return fmt.Errorf("insert_benchmark %s: %w", b.step, err)
	}
	return nil
}

// A share is what one client has of the tables: all of some, or a part of one.
type share struct {
	tables        []int // from 1
	first, stride int64 // which of their batches: first, first+stride, ...
}

// share returns what the n-th client has, from 0.
func (c *config) share(n int) share {
	if c.clients > c.tables {
		return share{[]int{n%c.tables + 1}, int64(n / c.tables), int64(c.clients / c.tables)}
	}
	s := share{stride: 1}
	for table := n; table < c.tables; table += c.clients {
		s.tables = append(s.tables, table+1)
	}
	return s
}
