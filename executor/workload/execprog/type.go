package execprog

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"dbmatrix/executor/workload"
	"dbmatrix/matrix"
)

const version = 1

// Type returns the workload type exec.
func Type() workload.Type {
	return workload.Type{
		WorkloadType: matrix.WorkloadType{
			Name:    "exec",
			Summary: "any program, with metrics taken from what it prints",
			Version: version,
			Attributes: []matrix.Attribute{
				{Name: "command", Type: cty.List(cty.String), Required: true, Program: true, Doc: "The program and its arguments; a program with a slash in its name is relative to the experiment. DBMATRIX_SOCKET, DBMATRIX_DSN (of the server), DBMATRIX_DIR (its data directory) and DBMATRIX_SEED are in its environment."},
				workload.Text("dir", "", "The folder that it runs in, relative to the experiment; the run's scratch directory, on its storage, unless given."),
				{Name: "env", Type: cty.Map(cty.String), Doc: "Variables that are added to its environment."},
				{Name: "server", Type: cty.Bool, Default: cty.True, Doc: "Whether it needs the cell's server."},
				workload.Switch("port", "Make the server listen on the loopback address, on a port that DBMATRIX_PORT names, for a program that cannot use the socket."),
				workload.Seed(),
			},
			Blocks: []matrix.BlockType{{
				Name: "metric",
				Doc:  "A metric of the phase, found in what the program prints.",
				Attributes: []matrix.Attribute{
					workload.Text("regex", "", "A regular expression that matches once in what is printed; its first group is the number. Either this or json."),
					workload.Text("json", "", "The path of the number in the JSON that the program prints, such as jobs.0.read.iops."),
					workload.Text("unit", "count", "Unit of the number."),
				},
			}},
			Server: func(args matrix.Args) bool { return workload.Read(args).Bool("server") },
			Port:   func(args matrix.Args) bool { v := workload.Read(args); return v.Bool("server") && v.Bool("port") },
			Opaque: func(matrix.Args) bool { return true },
			Check: func(args matrix.Args, _ matrix.Build) []matrix.ArgError {
				_, faults := decode(args)
				return faults
			},
			Built: true,
		},
		New: newWorkload,
		Needs: func(args matrix.Args, source string) error {
			c, _ := decode(args)
			_, err := c.find(source)
			return err
		},
	}
}

// config is the decoded body of a block.
type config struct {
	command []string
	port    bool
	dir     string
	env     map[string]string
	seed    *int64
	metrics []metric
}

// A metric is where a number is found.
type metric struct {
	name, unit string
	pattern    *regexp.Regexp // nil where path says it
	path       string
}

// decode reads the arguments and judges them.
func decode(args matrix.Args) (config, []matrix.ArgError) {
	v := workload.Read(args)
	c := config{command: v.Texts("command"), dir: v.Text("dir"), port: v.Bool("port"), env: v.Map("env")}
	if v.Has("command") && (len(c.command) == 0 || c.command[0] == "") {
		v.Fault("command", "no program is named", "Give the program and its arguments as a list of texts.")
	}
	for name, value := range c.env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			v.Fault("env", fmt.Sprintf("%q is no name of a variable", name), "Give names without an equals sign, such as { CLIENTS = 4 }.")
		}
		if strings.HasPrefix(name, "DBMATRIX_") {
			v.Fault("env", name+" is set by dbmatrix", "Give the variable another name.")
		}
	}
	if c.port && !v.Bool("server") {
		v.Fault("port", "there is no server to listen", "Set server = true, or leave port out.")
	}
	if v.Has("seed") {
		seed := v.Int("seed", 0)
		c.seed = &seed
	}
	if v.Has("metric") {
		for _, block := range args["metric"].AsValueSlice() {
			c.metrics = append(c.metrics, decodeMetric(v, block))
		}
	}
	return c, v.Faults
}

// decodeMetric reads a metric block. Its faults are the block's: the language
// knows no place of an attribute inside it.
func decodeMetric(v *workload.Values, block cty.Value) metric {
	b := workload.Read(block.AsValueMap())
	m := metric{name: b.Text("name"), unit: b.Text("unit"), path: b.Text("json")}
	fault := func(summary, detail string) { v.Fault("", fmt.Sprintf("metric %q: %s", m.name, summary), detail) }
	expression := b.Text("regex")
	switch {
	case m.name == "" || m.name == "secs":
		fault("the name is taken", "secs is the time that the program took; give the metric another name.")
	case expression == "" && m.path == "":
		fault("nothing says where it is", "Give regex, with a group around the number, or json, with a path.")
	case expression != "" && m.path != "":
		fault("two places are named", "Give either regex or json; the other is null.")
	case expression != "":
		pattern, err := regexp.Compile("(?m)" + expression)
		if err != nil {
			fault(fmt.Sprintf("the regular expression is not valid: %v", err), "Correct it: the syntax is RE2's.")
			break
		}
		if pattern.NumSubexp() == 0 {
			fault("the regular expression has no group", `Put parentheses around the number, as in "^tps = ([0-9.]+)".`)
		}
		m.pattern = pattern
	}
	return m
}
