package main

import (
	"dbmatrix/executor/server"
	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/execprog"
	"dbmatrix/executor/workload/insertbench"
	"dbmatrix/executor/workload/linkbench"
	"dbmatrix/executor/workload/pgbench"
	"dbmatrix/executor/workload/sqlscript"
	"dbmatrix/executor/workload/sysbench"
	"dbmatrix/executor/workload/tpcc"
	"dbmatrix/matrix"
	"dbmatrix/report"

	"github.com/spf13/cobra"
)

// commands returns what makes each command, in the order of the help.
func commands() []func(*streams) *cobra.Command {
	return []func(*streams) *cobra.Command{
		newInitCommand,
		newValidateCommand,
		newFmtCommand,
		newPlanCommand,
		newRunCommand,
		newStatusCommand,
		newShowCommand,
		newReportCommand,
		newTableCommand,
		newCompareCommand,
		newImportCommand,
		newExportCommand,
		newMergeCommand,
		newAcceptCommand,
		newInvalidateCommand,
		newCleanCommand,
		newDoctorCommand,
		newColumnsCommand,
		newWorkloadsCommand,
		newFunctionsCommand,
		newVersionCommand,
		newGuardianCommand,
	}
}

// workloads returns the workload types of this program.
func workloads() []workload.Type {
	return []workload.Type{
		insertbench.Type(),
		linkbench.Type(),
		sqlscript.Type(),
		sysbench.Type(),
		pgbench.Type(),
		tpcc.Type(),
		execprog.Type(),
	}
}

// workloadTypes returns what the language must know of each workload.
func workloadTypes() []matrix.WorkloadType {
	var types []matrix.WorkloadType
	for _, t := range workloads() {
		types = append(types, t.WorkloadType)
	}
	return types
}

// dialects returns what the language must know of each flavour of server.
func dialects() []matrix.Dialect {
	var ds []matrix.Dialect
	for _, f := range server.Flavours() {
		ds = append(ds, f.Dialect())
	}
	return ds
}

// renderers returns what writes a report, by the name of its format.
func renderers() map[string]report.Renderer { return report.Formats() }
