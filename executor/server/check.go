package server

import (
	"context"
	"errors"

	"dbmatrix/matrix"
)

// A Complaint is what a server has to say against an option, before it runs.
type Complaint struct {
	Option  string // folded name; "" where the message names none of those asked
	Fatal   bool   // the server would not start, or would drop the value
	Message string // the server's own words
}

// Check asks the build of the settings to judge their options without starting:
// no data directory is made or touched.
func Check(ctx context.Context, s *matrix.Settings) ([]Complaint, error) {
	return nil, errors.New("not built yet")
}
