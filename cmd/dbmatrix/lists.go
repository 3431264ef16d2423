package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"dbmatrix/matrix"

	"github.com/spf13/cobra"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// newWorkloadsCommand lists the workloads and their attributes.
func newWorkloadsCommand(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "workloads [NAME]",
		Short: "List the workloads, or the attributes of one",
		Long:  "Lists the workloads that a phase may have; with a name, the attributes of its block." + exitStatus(exitUsage, exitEnvironment),
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listWorkloads(s)
			}
			return describeWorkload(s, args[0])
		},
	}
}

// listWorkloads prints one line for each workload.
func listWorkloads(s *streams) error {
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, t := range workloadTypes() {
		built := ""
		if !t.Built {
			built = " (plans only: not built into this version)"
		}
		fmt.Fprintf(w, "%s\t%s%s\n", t.Name, t.Summary, built)
	}
	return w.Flush()
}

// describeWorkload prints the attributes of a workload.
func describeWorkload(s *streams, name string) error {
	types := workloadTypes()
	i := slices.IndexFunc(types, func(t matrix.WorkloadType) bool { return t.Name == name })
	if i < 0 {
		var names []string
		for _, t := range types {
			names = append(names, t.Name)
		}
		return exit(exitUsage, fmt.Errorf("there is no workload %q; there are %s", name, strings.Join(names, ", ")))
	}
	t := types[i]
	fmt.Fprintf(s.out, "workload %q: %s\n\n", t.Name, t.Summary)
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	printAttributes(w, "", t.Attributes)
	for _, b := range t.Blocks {
		fmt.Fprintf(w, "%s \"name\" {}\t\t\t%s\n", b.Name, b.Doc)
		printAttributes(w, "  ", b.Attributes)
	}
	return w.Flush()
}

// printAttributes prints one line for each attribute: name, type, default,
// meaning.
func printAttributes(w *tabwriter.Writer, indent string, attributes []matrix.Attribute) {
	for _, a := range attributes {
		def := "-"
		switch {
		case a.Required:
			def = "required"
		case !a.Default.IsNull() && a.Default.IsKnown():
			def = defaultText(a.Default)
		}
		doc := a.Doc
		if len(a.Values) > 0 {
			doc += " (" + strings.Join(a.Values, ", ") + ")"
		}
		fmt.Fprintf(w, "%s%s\t%s\t%s\t%s\n", indent, a.Name, a.Type.FriendlyName(), def, doc)
	}
}

// defaultText words the default of an attribute.
func defaultText(v cty.Value) string {
	b, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		return v.GoString()
	}
	return string(b)
}

// newFunctionsCommand lists the functions of the language.
func newFunctionsCommand(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "functions",
		Short: "List the functions of the language",
		Long:  "Lists the functions that expressions may call, with their parameters." + exitStatus(exitEnvironment),
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return listFunctions(s)
		},
	}
}

// listFunctions prints one line for each function.
func listFunctions(s *streams) error {
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, f := range matrix.FunctionDocs() {
		fmt.Fprintf(w, "%s\t%s\n", f.Signature, f.Summary)
	}
	fmt.Fprintln(w, "\nOnly in tables, charts, texts and checks:")
	for _, f := range matrix.ReportFunctionDocs() {
		fmt.Fprintf(w, "%s\t%s\n", f.Signature, f.Summary)
	}
	return w.Flush()
}
