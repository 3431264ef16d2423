package main

import (
	"io"

	"dbmatrix/matrix"

	"github.com/spf13/cobra"
)

// A completer proposes words on the command line.
type completer = cobra.CompletionFunc

// cellsAfterPath proposes the cells of the experiment that the first argument
// names for the second.
func cellsAfterPath(o *experimentOptions) completer {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		switch len(args) {
		case 0:
			return nil, cobra.ShellCompDirectiveDefault
		case 1:
			return cellNames(c, o, args[0])
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// cellsOfPath proposes the cells of the experiment that the first argument names
// for a flag.
func cellsOfPath(o *experimentOptions) completer {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return cellNames(c, o, args[0])
	}
}

func cellNames(c *cobra.Command, o *experimentOptions, path string) ([]string, cobra.ShellCompDirective) {
	_, cells, err := o.expand(c.Context(), &streams{out: io.Discard, err: io.Discard, quiet: true}, path)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, cell := range cells {
		names = append(names, string(cell.Key))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// tablesOfPath proposes the tables of the experiment that the first argument names.
func tablesOfPath(o *experimentOptions) completer {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		exp, err := o.load(c.Context(), &streams{out: io.Discard, err: io.Discard, quiet: true}, args[0])
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var names []string
		for _, b := range exp.Report {
			if t, ok := b.(*matrix.Table); ok {
				names = append(names, t.Name)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// words proposes fixed words.
func words(list ...string) completer {
	return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
}

// completes sets what is proposed for a flag, which the command has.
func completes(c *cobra.Command, flag string, f completer) {
	if err := c.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic("completion of a flag that " + c.Name() + " does not have: " + flag) // a fault of this program
	}
}
