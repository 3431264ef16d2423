package sqlscript

import (
	"fmt"
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
				workload.Text("database", "", "The database that the statements refer to; none unless given."),
				workload.Whole("connections", "connections", 1, "Connections that each run all statements, at the same time."),
				{Name: "expect", Type: cty.Map(cty.String), Doc: "What statements must return: the number of a statement, from 1, and the first value of its first row, such as { 2 = \"240000\" }."},
				workload.AllowErrors(),
			},
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
	statements  []string // nil where they are in a file
	file        string
	database    string
	connections int
	expect      map[int]string // by the number of the statement, from 1
	allowed     []string
}

// decode reads the arguments and judges them, for a build where it is known.
func decode(args matrix.Args, build matrix.Build) (config, []matrix.ArgError) {
	v := workload.Read(args)
	c := config{
		file:        v.Text("file"),
		database:    v.Text("database"),
		connections: int(v.Int("connections", 1)),
		expect:      map[int]string{},
		allowed:     v.ErrorCodes("allow_errors"),
	}
	for i, text := range v.Texts("statements") {
		statements, err := split(text)
		if err != nil {
			v.Fault("statements", fmt.Sprintf("statement %d cannot be read: %v", i+1, err), "Correct it.")
		}
		c.statements = append(c.statements, statements...)
	}
	switch {
	case v.Has("statements") && c.file != "":
		v.Fault("file", "statements are given twice", "Give either statements or file; the other is null.")
	case c.file == "" && len(c.statements) == 0 && len(v.Faults) == 0:
		v.Fault("statements", "there is nothing to do", "Give statements, or a file with some.")
	}
	for key, value := range v.Map("expect") {
		n, err := strconv.Atoi(key)
		if err != nil || n < 1 || (c.file == "" && n > len(c.statements)) {
			v.Fault("expect", fmt.Sprintf("there is no statement %q", key),
				fmt.Sprintf("The statements are numbered from 1 to %d.", len(c.statements)))
			continue
		}
		c.expect[n] = value
	}
	if build.Flavour == "postgres" {
		v.Fault("", "sql does not run on PostgreSQL yet", "Use a server of the flavours mysql or mariadb.")
	}
	return c, v.Faults
}
