package main

import (
	"fmt"
	"text/tabwriter"

	"dbmatrix/report"

	"github.com/spf13/cobra"
)

// newColumnsCommand lists the column library.
func newColumnsCommand(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "columns",
		Short: "List the columns that tables may show",
		Long:  "Lists the tokens that a table's columns may name, with formula, unit and meaning." + exitStatus(),
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
			for _, c := range report.Columns() {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", c.Token, c.Unit, c.Formula, c.Legend)
			}
			return w.Flush()
		},
	}
}
