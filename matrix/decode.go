package matrix

// A decoder holds what expressions are evaluated with.
type decoder struct{}
