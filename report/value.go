package report

// A Value is a number that may be missing, with the text it was written as.
type Value struct {
	Number float64
	Known  bool
	Text   string // as written in an imported file; "" for what was measured
}
