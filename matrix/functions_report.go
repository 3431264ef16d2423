package matrix

// ReportFunctionDocs describes the functions that only tables, charts, texts and
// checks have, which package report defines: at the numbers of a row. Their
// examples have no result of their own.
func ReportFunctionDocs() []FunctionDoc {
	return []FunctionDoc{
		{
			Name: "at", Signature: "at(token, phase, iteration)",
			Summary: "The row's number of a token, at the table's phase and iteration or, where they are given, at others; a null or no argument is the table's own. In a text block a cell's key comes first: at(cell, token, phase, iteration).",
			Example: `at("ips", "load")`,
		},
		{
			Name: "base_at", Signature: "base_at(token, phase, iteration)",
			Summary: "The same number of the row's baseline.",
			Example: `base_at("qps")`,
		},
		{
			Name: "fact", Signature: "fact(name)",
			Summary: "In a text block: what was true of host, build or place when the shown runs were made, such as host.kernel or data.filesystem; several values are joined by commas, and none is an empty text.",
			Example: `fact("host.kernel")`,
		},
		{
			Name: "ratio", Signature: "ratio(a, b)",
			Summary: "The one number divided by the other; nothing over nothing is 1, something over nothing is infinite, which tables show as a missing number.",
			Example: `ratio(at("qps"), base_at("qps"))`,
		},
	}
}
