package insertbench

import (
	"context"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/workloadtest"
	"dbmatrix/matrix"
)

// arguments returns the arguments of a block with the given attributes and the
// defaults of all others.
func arguments(t testing.TB, given map[string]any) matrix.Args {
	t.Helper()
	return workloadtest.Args(t, Type(), given)
}

func run(t *testing.T, target workload.Target, given map[string]any) workload.Result {
	t.Helper()
	result, err := try(t.Context(), t, target, given)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func try(ctx context.Context, t *testing.T, target workload.Target, given map[string]any) (workload.Result, error) {
	t.Helper()
	w, err := Type().New(arguments(t, given))
	if err != nil {
		t.Fatal(err)
	}
	r := workload.NewRecorder(t.TempDir(), workload.Hooks{})
	err = w.Run(ctx, target, r)
	return r.Result(), err
}

func TestSteps(t *testing.T) {
	target := workloadtest.Start(t)
	result := run(t, target, map[string]any{"step": "load", "tables": 2, "rows": 100001})
	t.Log(result.Metrics, result.Facts, result.Artifacts)
	for step := 1; step <= 5; step++ {
		target.Step = step
		t.Log(run(t, target, map[string]any{"step": "scan", "tables": 2, "rows": 100001}).Metrics)
	}
	target.Step = 1
	result = run(t, target, map[string]any{"step": "query", "tables": 2, "rows": 100001, "insert_rate": 1000, "seconds": 11})
	t.Log(result.Metrics, result.Plans)
	_ = cty.NilVal
}
