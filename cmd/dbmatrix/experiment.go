package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"dbmatrix/executor/server"
	"dbmatrix/matrix"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// experimentOptions are the flags of all commands that read an experiment.
type experimentOptions struct {
	machine  string
	vars     []string
	varFiles []string
}

// addFlags adds the flags to a command.
func (o *experimentOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.machine, "machine", os.Getenv("DBMATRIX_MACHINE"), "machine `FILE`: what this host has (default $DBMATRIX_MACHINE, else machine.hcl above the experiment)")
	f.StringArrayVar(&o.vars, "var", nil, "set a variable: `NAME=VALUE`; may be repeated")
	f.StringArrayVar(&o.varFiles, "var-file", nil, "read variables from `FILE`; may be repeated, later ones win")
}

// load reads the experiment at path and prints all that is wrong with it.
func (o *experimentOptions) load(ctx context.Context, s *streams, path string) (*matrix.Experiment, error) {
	vars, err := parseVars(o.vars)
	if err != nil {
		return nil, err
	}
	host, err := readHost("/")
	if err != nil {
		return nil, exit(exitEnvironment, err)
	}
	prober := &server.Prober{Cache: probeCache()}
	exp, files, diags := matrix.Load(ctx, matrix.LoadOptions{
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
		Host: host,
	})
	if err := s.diagnose(files, diags); err != nil {
		return nil, err
	}
	return exp, nil
}

// expand reads the experiment at path and lays out its cells.
func (o *experimentOptions) expand(ctx context.Context, s *streams, path string) (*matrix.Experiment, []*matrix.Cell, error) {
	exp, err := o.load(ctx, s, path)
	if err != nil {
		return nil, nil, err
	}
	cells, diags := exp.Expand()
	if err := s.diagnose(exp.Files, diags); err != nil {
		return nil, nil, err
	}
	return exp, cells, nil
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
	w := hcl.NewDiagnosticTextWriter(s.err, files, s.width(), s.color)
	if err := w.WriteDiagnostics(diags); err != nil {
		return exit(exitEnvironment, fmt.Errorf("writing diagnostics: %w", err))
	}
	if diags.HasErrors() {
		return silent(exitUsage)
	}
	return nil
}

// plainWidth is the width of messages where they go to no terminal.
const plainWidth = 100

// width returns the width of the terminal that messages go to.
func (s *streams) width() uint {
	if f, ok := s.err.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 20 {
			return uint(w)
		}
	}
	return plainWidth
}

// readHost reads what the language may ask of this host.
func readHost(root string) (matrix.Host, error) {
	h := matrix.Host{CPUs: runtime.NumCPU()}
	id, err := os.ReadFile(filepath.Join(root, "etc/machine-id"))
	if err != nil || len(strings.TrimSpace(string(id))) == 0 {
		// Containers often have none; the name is what tells hosts apart then.
		name, err := os.Hostname()
		if err != nil {
			return h, fmt.Errorf("this host has neither a machine id nor a name: %w", err)
		}
		id = []byte("name:" + name)
	}
	h.ID = strings.TrimSpace(string(id))
	meminfo, err := os.ReadFile(filepath.Join(root, "proc/meminfo"))
	if err != nil {
		return h, fmt.Errorf("reading the size of memory: %w", err)
	}
	for line := range strings.Lines(string(meminfo)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == "MemTotal:" {
			kib, err := strconv.Atoi(f[1])
			if err != nil {
				return h, fmt.Errorf("reading the size of memory: %w", err)
			}
			// The kernel keeps some for itself: 24 GiB show as 23.4.
			h.Memory = (kib + 1<<20 - 1) >> 20
			return h, nil
		}
	}
	return h, errors.New("reading the size of memory: /proc/meminfo has no MemTotal")
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
