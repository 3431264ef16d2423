package insertbench

import (
	"context"
	"errors"
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
	b.postgres = t.Flavour == "postgres"
	r.Fact("seed", strconv.FormatInt(t.Seed, 10))
	if t.Warmup > 0 && !b.reads() {
		return fmt.Errorf("insert_benchmark: the step %s cannot be warmed up: take warmup out of the phase", b.step)
	}
	if b.firstClient {
		r.OnlyFirstClient()
	}
	var err error
	switch b.step {
	case stepLoad, stepFill:
		err = b.load(ctx, t, r)
	case stepScan:
		err = b.scan(ctx, t, r)
	case stepIndex:
		err = b.makeIndexes(ctx, t, r)
	case stepInsert1, stepInsert2, stepQuery, stepRange, stepPoint:
		err = b.mix(ctx, t, r)
	default:
		err = fmt.Errorf("there is no step %q", b.step)
	}
	if err == nil || errors.As(err, new(*workload.SLAError)) {
		err = workload.Join(err, keepResponses(r))
	}
	if err != nil {
		return fmt.Errorf("insert_benchmark %s: %w", b.step, err)
	}
	return nil
}
