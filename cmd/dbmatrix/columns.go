package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"dbmatrix/report"

	"github.com/spf13/cobra"
)

// newColumnsCommand lists the column library.
func newColumnsCommand(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "columns [PATTERN]",
		Short: "List the columns that tables may show",
		Long: `Lists the tokens that a table's columns may name, with formula, unit and meaning:
all, or those that have PATTERN in their token or meaning.` + exitStatus(exitUsage, exitEnvironment),
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return listColumns(s, strings.Join(args, ""))
		},
	}
}

// listColumns prints one line for each column that a pattern is found in.
func listColumns(s *streams, pattern string) error {
	wanted := strings.ToLower(pattern)
	columns := slices.DeleteFunc(report.Columns(), func(c *report.Spec) bool {
		return !strings.Contains(strings.ToLower(c.Token+"\n"+c.Legend), wanted)
	})
	if len(columns) == 0 {
		return exit(exitUsage, fmt.Errorf("no column has %q in its token or meaning; dbmatrix columns lists all", pattern))
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "token\tunit\tformula\tmeaning")
	for _, c := range columns {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", c.Token, c.Unit, strings.ReplaceAll(c.Formula, "divisor", strconv.Itoa(c.Divisor)), c.Legend)
	}
	return w.Flush()
}
