package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dbmatrix/executor/sampler"
	"dbmatrix/executor/server"
	"dbmatrix/matrix"
	"dbmatrix/report"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// experimentOptions are the flags of all commands that read an experiment.
type experimentOptions struct {
	machine  string
	vars     []string
	varFiles []string

	importing string // the name of an import that is about to be recorded
	showing   bool   // only what is on record is shown: no build need be on this host
}

// addFlags adds the flags to a command.
func (o *experimentOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.machine, "machine", os.Getenv("DBMATRIX_MACHINE"), "machine `FILE`: what this host has (default $DBMATRIX_MACHINE, else machine.hcl above the experiment)")
	f.StringArrayVar(&o.vars, "var", nil, "set a variable: `NAME=VALUE`; may be repeated")
	f.StringArrayVar(&o.varFiles, "var-file", nil, "read variables from `FILE`; may be repeated, later ones win")
}

// load reads the experiment at path and prints all that is wrong with it.
func (o *experimentOptions) load(ctx context.Context, s *streams, path string) (*matrix.Experiment, error) {
	exp, files, diags, err := o.read(ctx, path)
	if err != nil {
		return nil, err
	}
	if exp != nil && diags.HasErrors() {
		_, more := judge(exp)
		diags = slices.Concat(diags, more)
	}
	if err := s.diagnose(files, diags); err != nil {
		return nil, err
	}
	return exp, nil
}

// read reads the experiment at path, as matrix.Load does.
func (o *experimentOptions) read(ctx context.Context, path string) (*matrix.Experiment, map[string]*hcl.File, hcl.Diagnostics, error) {
	vars, err := parseVars(o.vars)
	if err != nil {
		return nil, nil, nil, err
	}
	host, err := sampler.Machine(sampler.System())
	if err != nil {
		return nil, nil, nil, exit(exitEnvironment, err)
	}
	prober := &server.Prober{Cache: probeCache()}
	options := matrix.LoadOptions{
		Path:      path,
		Machine:   o.machine,
		Vars:      vars,
		VarFiles:  o.varFiles,
		Workloads: workloadTypes(),
		Dialects:  dialects(),
		Found:     prober.Find(ctx),
		Probe: func(ctx context.Context, m *matrix.Server) matrix.Build {
			return prober.Probe(ctx, *m)
		},
		Implicit: implicit(prober),
		Imported: func(dir string) []string { return o.imported(ctx, dir) },
		Host:     host,
	}
	if o.showing {
		options.Recorded = func(dir string) bool { return isRecorded(ctx, dir) }
	}
	exp, files, diags := matrix.Load(ctx, options)
	return exp, files, diags, nil
}

// expand reads the experiment at path and lays out its cells.
func (o *experimentOptions) expand(ctx context.Context, s *streams, path string) (*matrix.Experiment, []*matrix.Cell, error) {
	exp, err := o.load(ctx, s, path)
	if err != nil {
		return nil, nil, err
	}
	cells, diags := expandFaulty(exp)
	if err := s.diagnose(exp.Files, diags); err != nil {
		return nil, nil, err
	}
	return exp, cells, nil
}

// check is expand, and checks the report of the experiment too.
func (o *experimentOptions) check(ctx context.Context, s *streams, path string) (*matrix.Experiment, []*matrix.Cell, error) {
	exp, files, diags, err := o.read(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	var cells []*matrix.Cell
	if exp != nil {
		var more hcl.Diagnostics
		cells, more = judge(exp)
		diags = slices.Concat(diags, more)
	}
	if err := s.diagnose(files, diags); err != nil {
		return nil, nil, err
	}
	return exp, cells, nil
}

// judge lays out the cells of an experiment, and returns their faults and those
// of its report.
func judge(exp *matrix.Experiment) ([]*matrix.Cell, hcl.Diagnostics) {
	cells, diags := exp.Expand()
	return cells, slices.Concat(diags, report.Check(exp, cells))
}

// expandFaulty lays out the cells of an experiment. Where it has faults it looks for
// those of its report too, so that they are all told at once.
func expandFaulty(exp *matrix.Experiment) ([]*matrix.Cell, hcl.Diagnostics) {
	cells, diags := exp.Expand()
	if diags.HasErrors() {
		diags = append(diags, report.Check(exp, cells)...)
	}
	return cells, diags
}

// parseVars splits the values of --var.
func parseVars(args []string) ([]matrix.VarValue, error) {
	var vars []matrix.VarValue
	for _, a := range args {
		name, value, ok := strings.Cut(a, "=")
		if !ok || name == "" {
			return nil, exit(exitUsage, fmt.Errorf("--var %q is not NAME=VALUE", a))
		}
		vars = append(vars, matrix.VarValue{Name: name, Value: value})
	}
	return vars, nil
}

// diagnose prints diagnostics with their source. It returns the end for a
// definition with errors in it; they are all printed then.
func (s *streams) diagnose(files map[string]*hcl.File, diags hcl.Diagnostics) error {
	if len(diags) == 0 {
		return nil
	}
	if !diags.HasErrors() && s.quiet {
		return nil
	}
	slices.SortStableFunc(diags, inSource)
	w := hcl.NewDiagnosticTextWriter(s.err, files, s.width(), s.color)
	if err := w.WriteDiagnostics(diags); err != nil {
		return exit(exitEnvironment, fmt.Errorf("writing diagnostics: %w", err))
	}
	if diags.HasErrors() {
		return silent(exitUsage)
	}
	return nil
}

// inSource orders diagnostics by file and line; those about no place come last.
func inSource(a, b *hcl.Diagnostic) int {
	switch {
	case a.Subject == nil || b.Subject == nil:
		return cmp.Compare(placeless(a), placeless(b))
	case a.Subject.Filename != b.Subject.Filename:
		return strings.Compare(a.Subject.Filename, b.Subject.Filename)
	}
	return cmp.Compare(a.Subject.Start.Byte, b.Subject.Start.Byte)
}

func placeless(d *hcl.Diagnostic) int {
	if d.Subject == nil {
		return 1
	}
	return 0
}

// plainWidth is the width of messages where they go to no terminal.
const plainWidth = 100

// width returns the width of the terminal that messages go to; $COLUMNS overrides
// it.
func (s *streams) width() uint {
	if w, err := strconv.ParseUint(os.Getenv("COLUMNS"), 10, 16); err == nil && w > 20 {
		return uint(w)
	}
	if f, ok := s.err.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 20 {
			return uint(w)
		}
	}
	return plainWidth
}

// probeCache returns the file in which the version queries of builds are
// remembered; "" where the user has no cache directory.
func probeCache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "dbmatrix", "builds.json")
}
