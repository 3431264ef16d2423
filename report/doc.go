// Package report shows what was recorded: it turns the results of an experiment
// into the tables that its definition asks for.
//
//	results.db ─ FromStore ─┐
//	                        ├─► []Attempt ─► slots ─► Table ─► Document ─► Render
//	*.csv ───── ReadImport ─┘     (runs)     (rows)  (cells)    (blocks)   (bytes)
//	                                            └───► Chart ──────┘
//
// An Attempt is one recorded pass through a run with the metrics of each phase;
// an imported CSV yields attempts too, whose values keep their printed text.
// Of the attempts of a run one is shown: the newest that is complete. Build
// then goes through the report blocks of the experiment in source order. For a
// table it sorts the runs into slots, a slot being one row and one level of each
// axis laid across; picks the run of each slot that stands for it (the lower
// median of the first column, so that a row is one that happened); computes the
// columns, by their Spec in the column library or by an expression; and prints
// each number half up into a Cell that still holds the number, its status and
// its footnotes. Nothing is averaged over runs unless the table says so, and a
// value that is missing makes everything computed from it missing: never 0,
// never blank.
//
// What is doubtful is a footnote, or a remark under the table where all rows or a
// whole column have it; each row keeps what is said of it with its own numbers.
// Check does all of this without results, to judge a definition before it runs.
//
// A Chart has its points from the cells of such a table, and package chart draws
// it; over time, the formula of a column is applied to the readings of each
// interval.
//
// A Renderer writes a Document in one format: Text, as in a <pre> with the
// metrics first and the label last; Markdown, as GitHub reads it; HTML, one page
// with its charts; CSV; JSON with typed cells; Benchfmt, for benchstat. Charts go
// with Text and Markdown as files of their own: see ChartFiles.
//
// The blocks of a document are made and written at the same time, on as many
// processors as there are, each by a builder of its own (apart): what these share
// does not change any more. The same results and definition give the same bytes,
// however many they are.
package report
