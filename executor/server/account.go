package server

import (
	"errors"

	"dbmatrix/matrix"
)

// An account is an operating system user that a server runs as.
type account struct {
	name     string
	uid, gid uint32
	groups   []uint32
}

// CheckAccount reports why the server cannot run as its user, or its user cannot
// reach the directory: only root changes users, else it returns nil. The
// directory may not be there yet; its nearest ancestor is looked at then.
func CheckAccount(s *matrix.Server, dir string) error { return errors.New("not built yet") }
