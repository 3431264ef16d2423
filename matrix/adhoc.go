package matrix

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// ParseTable decodes one table block that stands in none of the experiment's
// files, with all checks that theirs have. name is what diagnostics call the
// source; Files has it from then on. The table does not become part of Report.
func (e *Experiment) ParseTable(src []byte, name string) (*Table, hcl.Diagnostics) {
	file, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	e.Files[name] = file
	if diags.HasErrors() {
		return nil, diags
	}
	content, diags := file.Body.Content(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "table", LabelNames: []string{"name"}}}})
	if diags.HasErrors() {
		return nil, diags
	}
	if n := len(content.Blocks); n != 1 {
		return nil, hcl.Diagnostics{fault(file.Body.MissingItemRange(), "One table expected", "There are %d table blocks here; there must be one.", n)}
	}
	d := e.decoder
	d.faults = &faults{}
	t := d.decodeTable(content.Blocks[0])
	if d.faults.errors() {
		return nil, d.faults.diagnostics()
	}
	return t, d.faults.diagnostics()
}
