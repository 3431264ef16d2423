package linkbench

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
	"dbmatrix/matrix"
)

// A benchmark is a phase of LinkBench.
type benchmark struct{ config }

func newWorkload(args matrix.Args) (workload.Workload, error) {
	c, faults := decode(args, matrix.Build{})
	if len(faults) > 0 {
		return nil, fmt.Errorf("linkbench: %s: %s; %s", faults[0].Attribute, faults[0].Summary, faults[0].Detail)
	}
	return &benchmark{c}, nil
}

// Run does one iteration of the step.
func (b *benchmark) Run(ctx context.Context, t workload.Target, r *workload.Recorder) error {
	if b.seed != nil {
		t.Seed = *b.seed
	}
	r.Fact("seed", strconv.FormatInt(t.Seed, 10))
	if t.Warmup > 0 && b.step != stepQuery {
		return fmt.Errorf("linkbench: the step %s cannot be warmed up: take warmup out of the phase", b.step)
	}
	if err := b.run(ctx, t, r); err != nil {
		return fmt.Errorf("linkbench %s: %w", b.step, err)
	}
	return nil
}

func (b *benchmark) run(ctx context.Context, t workload.Target, r *workload.Recorder) error {
	switch b.step {
	case stepIndex:
		return b.makeIndex(ctx, t, r)
	case stepCheck:
		return b.checkCounts(ctx, t, r)
	}
	d := b.degrees()
	if b.distribution != "" {
		var err error
		if d, err = readDegrees(filepath.Join(t.Source, b.distribution)); err != nil {
			return err
		}
	}
	if b.step == stepLoad {
		return b.load(ctx, t, r, b.graph(d))
	}
	return b.query(ctx, t, r, b.graph(d))
}

// prepareSession makes a connection send and take bytes as they are: data is
// more than ASCII, and a backslash in a literal is doubled.
func prepareSession(conn *client.Conn, more ...string) error {
	for _, statement := range append([]string{
		"SET NAMES latin1",
		"SET SESSION sql_mode = REPLACE(@@sql_mode, 'NO_BACKSLASH_ESCAPES', '')",
	}, more...) {
		if _, err := conn.Exec(statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}
