package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"dbmatrix/matrix"
)

// An account is an operating system user that a server runs as, where that is
// not the user of dbmatrix itself.
type account struct {
	name     string
	uid, gid uint32
	groups   []uint32
}

// accountFor returns the user that a server runs as: nil, which is the user of
// dbmatrix, unless that is root.
func accountFor(s *matrix.Server, f Flavour) (*account, error) {
	if os.Geteuid() != 0 {
		if s.User != "" {
			if u, err := user.Current(); err != nil || u.Username != s.User {
				return nil, fmt.Errorf("server %q shall run as user %s, which only root can do", s.Name, s.User)
			}
		}
		return nil, nil
	}
	name := s.User
	if name == "" {
		name = f.account()
	}
	u, err := user.Lookup(name)
	var unknown user.UnknownUserError
	if errors.As(err, &unknown) {
		return nil, fmt.Errorf("server %q cannot run as root, and there is no user %q; make one with \"useradd --system --no-create-home %s\", or name another in the server block (user = ...)", s.Name, name, name)
	}
	if err != nil {
		return nil, fmt.Errorf("looking up user %q: %w", name, err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	if uid == 0 {
		return nil, fmt.Errorf("server %q cannot run as root; name another user in the server block", s.Name)
	}
	a := &account{name: name, uid: uint32(uid), gid: uint32(gid)}
	ids, err := u.GroupIds()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if g, err := strconv.ParseUint(id, 10, 32); err == nil {
			a.groups = append(a.groups, uint32(g))
		}
	}
	return a, nil
}

// credential returns what the kernel needs to start a process as the account.
func (a *account) credential() *syscall.Credential {
	if a == nil {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid, Groups: a.groups}
}

// own gives a file or directory to the account.
func (a *account) own(path string) error {
	if a == nil {
		return nil
	}
	return os.Lchown(path, int(a.uid), int(a.gid))
}

// ownTree gives a directory and all below it to the account.
func (a *account) ownTree(root string) error {
	if a == nil {
		return nil
	}
	return filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return a.own(path)
	})
}

// CheckAccount reports why the server cannot run as its user, or why that user
// cannot reach the directory. The directory may not be there yet; its nearest
// ancestor is looked at then. Where dbmatrix does not run as root, the server
// runs as its user and nothing is checked.
func CheckAccount(s *matrix.Server, dir string) error {
	f, err := FlavourOf(s.Build.Flavour)
	if err != nil {
		return err
	}
	a, err := accountFor(s, f)
	if err != nil || a == nil {
		return err
	}
	return a.reach(dir)
}

// reach says which directory keeps the account from reaching a path. It asks the
// kernel, in a process of that account, since mode bits alone do not tell.
func (a *account) reach(dir string) error {
	if a == nil {
		return nil
	}
	var path []string // from the path up to the root
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		path = append(path, d)
		if d == filepath.Dir(d) {
			break
		}
	}
	for i := len(path) - 1; i >= 0; i-- {
		if _, err := os.Lstat(path[i]); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		cmd := exec.Command("/usr/bin/test", "-x", path[i])
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: a.credential()}
		var refused *exec.ExitError
		if err := cmd.Run(); errors.As(err, &refused) {
			return fmt.Errorf("user %s, as whom the server runs, cannot reach %s: %s is closed to it; choose another data_dir, or open the directory with \"chmod o+x %s\"", a.name, dir, path[i], path[i])
		} else if err != nil {
			return fmt.Errorf("checking whether user %s reaches %s: %w", a.name, dir, err)
		}
	}
	return nil
}
