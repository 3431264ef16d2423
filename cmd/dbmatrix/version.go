package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// newVersionCommand prints what this program was built from.
func newVersionCommand(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version and how the program was built",
		Long:  "Prints the version, the commit, and the facts of the build that matter." + exitStatus(exitEnvironment),
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return printVersion(s)
		},
	}
}

// printVersion prints what the Go linker knows of this program.
func printVersion(s *streams) error {
	b := readBuildFacts()
	text := fmt.Sprintf("dbmatrix %s\n", b.version)
	if b.commit != "" {
		text += fmt.Sprintf("commit   %s\n", b.commit)
	}
	text += fmt.Sprintf("go       %s %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	_, err := fmt.Fprintf(s.out, "%scgo      %s\n", text, b.cgo)
	return err
}

// buildFacts are what the linker recorded of this program.
type buildFacts struct {
	version string
	commit  string // with "+dirty" where the tree had changes
	cgo     string // "on", or "off" where SQLite cannot work
}

// readBuildFacts reads them.
func readBuildFacts() buildFacts {
	f := buildFacts{version: "(devel)", cgo: "off"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return f
	}
	if info.Main.Version != "" {
		f.version = info.Main.Version
	}
	dirty := ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			f.commit = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "+dirty"
			}
		case "CGO_ENABLED":
			if s.Value == "1" {
				f.cgo = "on"
			}
		}
	}
	if f.commit != "" {
		f.commit += dirty
	}
	return f
}
