package matrix

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// attrs makes the schema of a block that has these attributes, none of them
// demanded by the schema: what is missing is reported with the block's place.
func attrs(names ...string) *hcl.BodySchema {
	s := &hcl.BodySchema{}
	for _, name := range names {
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: name})
	}
	return s
}

// with adds nested blocks: a type, then the names of its labels, separated by
// blanks in one text, as "level name".
func with(s *hcl.BodySchema, blocks ...hcl.BlockHeaderSchema) *hcl.BodySchema {
	s.Blocks = append(s.Blocks, blocks...)
	return s
}

func block(kind string, labels ...string) hcl.BlockHeaderSchema {
	return hcl.BlockHeaderSchema{Type: kind, LabelNames: labels}
}

// content takes what a schema names from a body, and reports what else it holds.
// reword, where it is given, changes HCL's words about that; nil is not told.
func (d *decoder) content(body hcl.Body, schema *hcl.BodySchema, reword ...func(*hcl.Diagnostic) *hcl.Diagnostic) *hcl.BodyContent {
	before, corrected := d.losses, false
	content, diags := body.Content(schema)
	for _, diag := range diags {
		for _, change := range reword {
			diag = change(diag)
		}
		if diag == nil {
			d.losses++
			continue
		}
		d.faults.add(withAlternatives(diag, schema))
		if d.correct(diag, schema) {
			corrected = true
		} else {
			d.lose(diag)
		}
	}
	if corrected {
		content, _ = body.Content(schema) // what else is wrong with it was told
	}
	if d.losses > before {
		d.lossy[content] = true
	}
	return content
}

// withAlternatives adds what there is to HCL's words about something that there
// is not, unless they name the nearest.
func withAlternatives(diag *hcl.Diagnostic, schema *hcl.BodySchema) *hcl.Diagnostic {
	if strings.Contains(diag.Detail, "Did you mean") {
		return diag
	}
	var names []string
	options := false
	switch diag.Summary {
	case "Unsupported argument":
		for _, a := range schema.Attributes {
			names = append(names, a.Name)
			options = options || a.Name == "my_cnf"
		}
	case "Unsupported block type":
		for _, b := range schema.Blocks {
			names = append(names, b.Type)
		}
	}
	if len(names) == 0 {
		return diag
	}
	changed := *diag
	if options {
		changed.Detail += " Options of the server go into my_cnf = {...} or postgresql_conf = {...}."
	}
	changed.Detail += fmt.Sprintf(" Known here: %s.", strings.Join(names, ", "))
	return &changed
}

// declarations are the blocks that must be known before dynamic blocks can be
// expanded.
func declarationSchema() *hcl.BodySchema {
	return &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{block("variable", "name"), block("locals")}}
}

func placeSchema() *hcl.BodySchema {
	return &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{block("server", "name"), block("storage", "name")}}
}

func experimentFileSchema() *hcl.BodySchema {
	return &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		block("experiment"), block("variable", "name"), block("locals"), block("server", "name"), block("storage", "name"),
		block("defaults"), block("axis", "name"), block("matrix", "name"), block("exclude"), block("phase", "name"),
		block("import", "name"), block("table", "name"), block("chart", "name"), block("text", "name"),
	}}
}

func experimentSchema() *hcl.BodySchema {
	return attrs("name", "title", "description", "source", "replicates", "order", "seed", "cooldown", "max_consecutive_failures")
}

func variableSchema() *hcl.BodySchema {
	return with(attrs("type", "default", "description"), block("validation"))
}

func validationSchema() *hcl.BodySchema { return attrs("condition", "error_message") }

func serverSchema() *hcl.BodySchema {
	return attrs("mysqld", "bindir", "basedir", "init_args", "user", "prefix", "my_cnf", "postgresql_conf", "env",
		"flavour", "version", "min_version")
}

// overlayAttrs are what every overlay may set.
var overlayAttrs = []string{"server", "storage", "my_cnf", "postgresql_conf", "params", "env", "setup", "teardown", "prefix"}

func overlaySchema(more ...string) *hcl.BodySchema {
	return attrs(append(append([]string{}, overlayAttrs...), more...)...)
}

func axisSchema() *hcl.BodySchema {
	return with(overlaySchema("levels", "label", "description", "phases", "from", "override", "unverified", "adjusted", "same"),
		block("level", "name"))
}

func levelSchema() *hcl.BodySchema {
	return overlaySchema("label", "description", "phases", "from", "override", "unverified", "adjusted", "same")
}

func excludeSchema() *hcl.BodySchema { return attrs("when", "reason") }

func phaseSchema() *hcl.BodySchema {
	return with(overlaySchema("label", "description", "when", "iterations", "continues", "warmup", "timeout", "restart", "cache",
		"snapshot", "read_only", "on_interrupt", "override", "unverified", "adjusted"),
		block("workload", "type"), block("settle"), block("check", "name"), block("sample"), block("snapshot"))
}

func snapshotSchema() *hcl.BodySchema { return attrs("share", "copy", "budget") }

func settleSchema() *hcl.BodySchema {
	return attrs("dirty_pages_pct", "checkpoint_age", "purge_history", "compaction", "vacuum", "pause", "max_wait")
}

func checkSchema() *hcl.BodySchema { return attrs("condition", "error_message") }

func sampleSchema() *hcl.BodySchema { return attrs("interval", "status", "exec", "extents") }

func machineSchema() *hcl.BodySchema {
	return with(attrs("data_dir", "notify", "variables"), block("server", "name"), block("storage", "name"))
}
