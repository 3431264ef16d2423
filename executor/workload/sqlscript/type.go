package sqlscript

import (
	"fmt"
	"math"
	"strconv"

	"github.com/zclconf/go-cty/cty"

	"dbmatrix/executor/workload"
	"dbmatrix/matrix"
)

const version = 1

// Type returns the workload type sql.
func Type() workload.Type {
	return workload.Type{
		WorkloadType: matrix.WorkloadType{
			Name:    "sql",
			Summary: "SQL statements, each of them timed",
			Version: version,
			Attributes: []matrix.Attribute{
				{Name: "statements", Type: cty.List(cty.String), Doc: "The statements, in their order. Either these or file."},
				{Name: "file", Type: cty.String, File: true, Doc: "A file beside the experiment with statements that end with a semicolon."},
				workload.Text("database", "", "The database that the statements refer to. Unless given there is none; in PostgreSQL it is postgres then."),
				workload.Whole("connections", "connections", 1, "Connections that each run all statements, at the same time."),
				{Name: "expect", Type: cty.Map(cty.String), Doc: "What statements must return: the number of a statement, from 1, and the first value of its first row, such as { 2 = \"240000\" }."},
				workload.AllowErrors(),
			},
			Opaque: func(matrix.Args) bool { return true },
			Check: func(args matrix.Args, build matrix.Build) []matrix.ArgError {
				_, faults := decode(args, build)
				return faults
			},
			Built: true,
		},
		New: newWorkload,
	}
}

// config is the decoded body of a block.
type config struct {
	texts       []string // of the attribute statements; nil where they are in a file
	file        string
	database    string
	connections int
	expect      map[int]string // by the number of the statement, from 1
	allowed     []string
}

// decode reads the arguments and judges them, for a build where it is known:
// what ends a statement depends on the flavour.
func decode(args matrix.Args, build matrix.Build) (config, []matrix.ArgError) {
	v := workload.Read(args)
	c := config{
		texts:       v.Texts("statements"),
		file:        v.Text("file"),
		database:    v.Text("database"),
		connections: int(v.Int("connections", 1)),
		expect:      map[int]string{},
		allowed:     v.ErrorCodes("allow_errors"),
	}
	most := math.MaxInt // of what is not known yet
	switch {
	case v.Has("statements") && c.file != "":
		v.Fault("file", "statements are given twice", "Give either statements or file; the other is null.")
	case c.file == "" && (build.Flavour != "" || len(c.texts) == 0):
		most = c.checkStatements(v, build.Flavour)
	}
	for key, value := range v.Map("expect") {
		n, err := strconv.Atoi(key)
		if err != nil || n < 1 || n > most {
			v.Fault("expect", fmt.Sprintf("there is no statement %q", key), "The statements are numbered from 1, in their order.")
			continue
		}
		c.expect[n] = value
	}
	return c, v.Faults
}

// checkStatements judges those of the attribute and returns how many there are.
func (c *config) checkStatements(v *workload.Values, flavour string) int {
	statements, err := splitAll(c.texts, flavour)
	switch {
	case err != nil:
		v.Fault("statements", err.Error(), "Correct it.")
		return math.MaxInt
	case len(statements) == 0:
		v.Fault("statements", "there is nothing to do", "Give statements, or a file with some.")
	}
	return len(statements)
}

// splitAll returns the statements of several texts.
func splitAll(texts []string, flavour string) ([]string, error) {
	var statements []string
	for i, text := range texts {
		more, err := split(text, flavour)
		if err != nil {
			return nil, fmt.Errorf("statement %d cannot be read: %w", i+1, err)
		}
		statements = append(statements, more...)
	}
	return statements, nil
}
