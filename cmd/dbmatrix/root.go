package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A streams value is where a command reads and writes. Data goes to out, all
// else to err.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer

	color   bool // of messages
	quiet   bool
	verbose bool
}

// globalOptions are the flags that every command has.
type globalOptions struct {
	color   string
	quiet   bool
	verbose bool
}

// run executes the program and returns its exit code.
func run(ctx context.Context, args []string, in io.Reader, out, errw io.Writer) int {
	printed := &output{w: out}
	s := &streams{in: in, out: printed, err: errw}
	root := newRootCommand(s)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(printed)
	root.SetErr(errw)
	err := root.ExecuteContext(ctx)
	if printed.err != nil && (err == nil || err.Error() == "") {
		err = printed.err
	}
	if err != nil && err.Error() != "" {
		fmt.Fprintf(errw, "%s\n", s.failure(err))
	}
	return exitCode(err)
}

// An output is the standard output of a command. It keeps its first error, which
// the end of the command tells: whatever prints line by line need not ask.
type output struct {
	w   io.Writer
	err error
}

// Write writes, and notes an error.
func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// failure words an error for the user.
func (s *streams) failure(err error) string {
	prefix := "Error: "
	if s.color {
		prefix = "\x1b[31mError:\x1b[0m "
	}
	text := prefix + err.Error()
	if exitCode(err) == exitInternal {
		text += "\nThis is a fault in dbmatrix; please report it."
	}
	return text
}

// newRootCommand returns the command with all its subcommands.
func newRootCommand(s *streams) *cobra.Command {
	var global globalOptions
	root := &cobra.Command{
		Use:   "dbmatrix",
		Short: "Run experiment matrices on database servers",
		Long: `dbmatrix runs declarative experiment matrices on database servers: an HCL file
says what varies (server build, partitioning, compression, direct I/O ...) and
what is done to each combination; each cell gets a data directory, an option
file and a server of its own; what was measured becomes tables.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return global.apply(s)
		},
	}
	flags := root.PersistentFlags()
	flags.StringVar(&global.color, "color", "auto", "colour messages: `auto`, always or never")
	flags.BoolVarP(&global.quiet, "quiet", "q", false, "print nothing but data, failures and questions")
	flags.BoolVarP(&global.verbose, "verbose", "v", false, "print each step")
	root.SetFlagErrorFunc(flagError)
	root.Version = strings.TrimSpace(readBuildFacts().version)
	root.SetVersionTemplate("dbmatrix {{.Version}}\n")
	root.SuggestionsMinimumDistance = 2

	for _, add := range commands() {
		root.AddCommand(usageErrors(add(s)))
	}
	return root
}

// knownCommand refuses a word that is no command, with those that are near it.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("there is no command %q", args[0])
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		text += fmt.Sprintf("; did you mean %q?", near[0])
	}
	return exit(exitUsage, fmt.Errorf("%s\nRun 'dbmatrix --help' for the list", text))
}

// flagError words a fault of a flag, with the one that was probably meant and the
// usage of the command.
func flagError(c *cobra.Command, err error) error {
	text := err.Error()
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		text = fmt.Sprintf("%s has no flag --%s", c.CommandPath(), unknown.GetSpecifiedName())
		if near := nearFlag(c, unknown.GetSpecifiedName()); near != "" {
			text += fmt.Sprintf("; did you mean --%s?", near)
		}
	}
	return exit(exitUsage, fmt.Errorf("%s\nUsage: %s", text, c.UseLine()))
}

// nearFlag returns the flag of a command whose name is nearest to one that there
// is not, or "" where none is near.
func nearFlag(c *cobra.Command, name string) string {
	// cobra measures the distance between names of commands only.
	names := &cobra.Command{SuggestionsMinimumDistance: 2}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
	})
	if near := names.SuggestionsFor(name); len(near) > 0 {
		return near[0]
	}
	return ""
}

// apply judges the flags that every command has.
func (o *globalOptions) apply(s *streams) error {
	switch o.color {
	case "always":
		s.color = true
	case "never":
	case "auto":
		s.color = isTerminal(s.err) && os.Getenv("NO_COLOR") == ""
	default:
		return exit(exitUsage, fmt.Errorf("--color is auto, always or never, not %q", o.color))
	}
	if o.quiet && o.verbose {
		return exit(exitUsage, errors.New("--quiet and --verbose exclude each other"))
	}
	s.quiet, s.verbose = o.quiet, o.verbose
	return nil
}

// usageErrors makes wrong arguments of a command end with the code for usage.
func usageErrors(c *cobra.Command) *cobra.Command {
	if judge := c.Args; judge != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := judge(c, args); err != nil {
				return exit(exitUsage, fmt.Errorf("%s takes other arguments than the %d given\nUsage: %s", c.CommandPath(), len(args), c.UseLine()))
			}
			return nil
		}
	}
	return c
}

// exitStatus words the exit codes of a command, for the end of its help.
func exitStatus(codes ...int) string {
	var b strings.Builder
	b.WriteString("\n\nEXIT STATUS\n")
	for _, code := range append([]int{exitOK}, codes...) {
		for _, h := range exitHelp {
			if h.code == code {
				fmt.Fprintf(&b, "  %-4d %s\n", code, h.text)
			}
		}
	}
	return strings.TrimRight(b.String(), "\n")
}
