package main

import (
	"os"
	"strconv"
)

// sudoUser returns the user who called sudo; false where this is not root by sudo.
func sudoUser() (uid, gid int, ok bool) {
	if os.Geteuid() != 0 {
		return 0, 0, false
	}
	uid, uerr := strconv.Atoi(os.Getenv("SUDO_UID"))
	gid, gerr := strconv.Atoi(os.Getenv("SUDO_GID"))
	return uid, gid, uerr == nil && gerr == nil
}
