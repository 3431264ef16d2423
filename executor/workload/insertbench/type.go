package insertbench

import (
	"errors"

	"dbmatrix/executor/workload"
	"dbmatrix/matrix"
)

// Type returns the workload type insert_benchmark.
func Type() workload.Type {
	return workload.Type{
		WorkloadType: matrix.WorkloadType{Name: "insert_benchmark", Version: 1, Built: true},
		New: func(matrix.Args) (workload.Workload, error) {
			return nil, errors.New("not built yet")
		},
	}
}
