package server

import (
	"context"
	"errors"

	"dbmatrix/matrix"
)

// Templates makes initialised data directories, once for each build, set of
// init-time options and init arguments, to be copied for each run.
type Templates struct {
	DataDir  string
	Guardian *Guardian
}

// Make returns the template for the settings; it makes it where there is none.
// A template is proven by a start and a clean stop before it gets its name.
func (t *Templates) Make(ctx context.Context, s *matrix.Settings) (Layout, error) {
	return Layout{}, errors.New("not built yet")
}

// InitKey returns the name of the template for the settings: a hash of the
// build's content and of all that only an empty data directory takes.
func InitKey(s *matrix.Settings) (string, error) { return "", errors.New("not built yet") }

// A newData is what a flavour needs to make a data directory.
type newData struct {
	guardian *Guardian
	server   *matrix.Server
	program  string
	options  []matrix.Option // init-time options
	layout   Layout
	token    string
	user     *account
}
