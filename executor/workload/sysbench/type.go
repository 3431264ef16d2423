package sysbench

import (
	"errors"

	"dbmatrix/executor/workload"
	"dbmatrix/matrix"
)

// Type returns the workload type sysbench.
func Type() workload.Type {
	return workload.Type{
		WorkloadType: matrix.WorkloadType{Name: "sysbench", Version: 1, Built: true},
		New: func(matrix.Args) (workload.Workload, error) {
			return nil, errors.New("not built yet")
		},
	}
}
