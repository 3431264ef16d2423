package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"dbmatrix/matrix"
)

// explain prints where the settings of a cell come from: what is CELL, or
// CELL:NAME for a single option, param or variable of the environment.
func explain(s *streams, exp *matrix.Experiment, cells []*matrix.Cell, what string) error {
	cellText, name, one := strings.Cut(what, ":")
	if len(cells) == 0 {
		return exit(exitUsage, errors.New("the experiment has no cell"))
	}
	c, err := findCell(cells, cellText)
	if err != nil {
		return err
	}
	list := exp.Explain(c)
	if one {
		if list = exp.Find(list, name); len(list) == 0 {
			return exit(exitUsage, fmt.Errorf("cell %s has no setting %q", cellName(c.Key), name))
		}
	}
	for _, x := range list {
		printExplanation(s.out, x)
	}
	return nil
}

// printExplanation prints a setting with the chain of places that set, overrode
// or removed it.
func printExplanation(out io.Writer, x matrix.Explanation) {
	value := " = " + x.Value
	if x.Removed {
		value = " is removed"
	}
	in := ""
	if len(x.Phases) > 0 {
		in = " (in " + strings.Join(x.Phases, ", ") + ")"
	}
	fmt.Fprintf(out, "%s%s%s\n", x.Name, value, in)
	for i, origin := range x.Origins {
		verb := "sets "
		switch {
		case origin.Null:
			verb = "removes it"
		case i > 0 && origin.Part == "":
			verb = "overrides it with "
		}
		part := ""
		if origin.Part != "" {
			part = origin.Part + " = "
		}
		fmt.Fprintf(out, "  %s: %s%s%s\n", originPlace(origin), verb, part, origin.Value)
	}
}
