package server

import (
	"errors"

	"dbmatrix/matrix"
)

// A placement is where one instance's files and socket are, for the options that
// a flavour sets itself.
type placement struct {
	layout  Layout
	server  *matrix.Server
	options []matrix.Option
	socket  string
	log     string // path of the error log
	port    int    // on the loopback address; 0: no networking
}

// WriteOptionFile returns the text of the option file for the settings as Start
// writes it, each line with the place that it comes from.
func WriteOptionFile(l Launch) (string, error) { return "", errors.New("not built yet") }
