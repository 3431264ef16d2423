package main

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"strings"

	"dbmatrix/executor/store"
	"dbmatrix/matrix"

	"github.com/spf13/cobra"
)

// verdictOptions are the flags of accept and invalidate.
type verdictOptions struct {
	experimentOptions
	reason    string
	replicate int
	attempt   int
}

// addFlags adds the flags to a command.
func (o *verdictOptions) addFlags(c *cobra.Command) {
	o.experimentOptions.addFlags(c.Flags())
	c.Flags().StringVar(&o.reason, "reason", "", "`TEXT`: why; it is kept with the result")
	c.Flags().IntVar(&o.replicate, "replicate", 0, "only replicate `N`; 0 is all")
	c.ValidArgsFunction = cellsAfterPath(&o.experimentOptions)
}

// newAcceptCommand lets a stale result stand.
func newAcceptCommand(s *streams) *cobra.Command {
	var o verdictOptions
	c := &cobra.Command{
		Use:   "accept PATH CELL --reason TEXT",
		Short: "Let a stale result stand",
		Long: `Records that the newest complete attempt of each stale run of CELL still stands
for the definition as it is now, and why. A later change makes it stale again.` +
			exitStatus(exitUsage, exitEnvironment),
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return accept(c.Context(), s, &o, args[0], args[1])
		},
	}
	o.addFlags(c)
	return c
}

// newInvalidateCommand withdraws a result.
func newInvalidateCommand(s *streams) *cobra.Command {
	var o verdictOptions
	c := &cobra.Command{
		Use:   "invalidate PATH CELL --reason TEXT",
		Short: "Withdraw a result",
		Long: `Withdraws the attempts that stand for CELL, for a reason that is kept with them.
They stay on record, count no more, and the next run measures again: an older
attempt of the same inputs does not come back in their place. Until then a report
shows the withdrawn one, marked.` +
			exitStatus(exitUsage, exitEnvironment),
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return invalidate(c.Context(), s, &o, args[0], args[1])
		},
	}
	o.addFlags(c)
	c.Flags().IntVar(&o.attempt, "attempt", 0, "only attempt `N`; 0 is the one that counts")
	return c
}

// A verdict is what is needed to pass one on a cell's attempts.
type verdict struct {
	cellRecord // of this host
	cell       *matrix.Cell
	record     *store.Store
	by         string
}

// prepare opens the record for a verdict on a cell.
func (o *verdictOptions) prepare(ctx context.Context, s *streams, path, name string) (*verdict, error) {
	if strings.TrimSpace(o.reason) == "" {
		return nil, exit(exitUsage, errors.New("say why: --reason TEXT"))
	}
	v := &verdict{by: userName()}
	exp, cells, err := o.expand(ctx, s, path)
	if err != nil {
		return nil, err
	}
	if v.cell, err = findCell(cells, name); err != nil {
		return nil, err
	}
	reader, err := needRecord(ctx, exp)
	if err != nil {
		return nil, err
	}
	if err := reader.Close(); err != nil {
		return nil, exit(exitEnvironment, err)
	}
	if v.record, err = writeRecord(ctx, exp); err != nil {
		return nil, err
	}
	if v.cellRecord, err = readCell(ctx, v.record, exp, cells, v.cell, exp.Host.ID); err != nil {
		return nil, errors.Join(err, v.record.Close())
	}
	return v, nil
}

// userName names who passes a verdict.
func userName() string {
	u, err := user.Current()
	if err != nil {
		return "unknown"
	}
	return u.Username
}

// accept lets the stale attempts of a cell stand.
func accept(ctx context.Context, s *streams, o *verdictOptions, path, name string) error {
	v, err := o.prepare(ctx, s, path, name)
	if err != nil {
		return err
	}
	defer v.record.Close()
	accepted := 0
	for _, r := range v.runs {
		if r.Status != matrix.Stale || o.replicate != 0 && o.replicate != r.Replicate {
			continue
		}
		for i := range v.attempts {
			a := &v.attempts[i]
			if !a.Counts || a.Replicate != r.Replicate {
				continue
			}
			fp := r.Phases[len(r.Phases)-1].Fingerprint
			if err := v.record.Accept(ctx, a.ID, fp, o.reason, v.by); err != nil {
				return fmt.Errorf("recording that attempt %d stands: %w", a.Number, err)
			}
			accepted++
			fmt.Fprintf(s.err, "%s, replicate %d, attempt %d stands although %s\n", cellName(v.cell.Key), a.Replicate, a.Number, r.Reason)
		}
	}
	if accepted == 0 {
		return exit(exitUsage, fmt.Errorf("%s has no stale result", cellName(v.cell.Key)))
	}
	return nil
}

// invalidate withdraws attempts of a cell.
func invalidate(ctx context.Context, s *streams, o *verdictOptions, path, name string) error {
	v, err := o.prepare(ctx, s, path, name)
	if err != nil {
		return err
	}
	defer v.record.Close()
	withdrawn := 0
	for i := range v.attempts {
		a := &v.attempts[i]
		named := o.attempt == 0 && v.stands(a) || o.attempt == a.Number
		if !named || o.replicate != 0 && o.replicate != a.Replicate {
			continue
		}
		if err := v.record.Withdraw(ctx, a.ID, o.reason, v.by); err != nil {
			return fmt.Errorf("withdrawing attempt %d: %w", a.Number, err)
		}
		withdrawn++
		fmt.Fprintf(s.err, "%s, replicate %d, attempt %d is withdrawn\n", cellName(v.cell.Key), a.Replicate, a.Number)
	}
	if withdrawn == 0 {
		return exit(exitUsage, fmt.Errorf("%s has no such result", cellName(v.cell.Key)))
	}
	return nil
}
