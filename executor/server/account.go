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
	names := f.accounts()
	if s.User != "" {
		names = []string{s.User}
	}
	u, err := firstUser(names)
	name := names[0]
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
	a := &account{name: u.Username, uid: uint32(uid), gid: uint32(gid)}
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

// firstUser returns the first of several users that there is. The error is about
// the first of them.
func firstUser(names []string) (*user.User, error) {
	u, err := user.Lookup(names[0])
	for _, name := range names[1:] {
		if err == nil {
			break
		}
		if other, oerr := user.Lookup(name); oerr == nil {
			return other, nil
		}
	}
	return u, err
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

// reach says which directory keeps the account from reaching a path, or its
// nearest ancestor that is there.
func (a *account) reach(path string) error {
	if a == nil {
		return nil
	}
	path = filepath.Clean(path)
	for {
		if _, err := os.Lstat(path); err == nil || !errors.Is(err, fs.ErrNotExist) || path == "/" {
			break
		}
		path = filepath.Dir(path)
	}
	if err := dangling(path); err != nil {
		return err
	}
	if open, err := a.enters(path); open || err != nil {
		return err
	}
	closed := path
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		open, err := a.enters(dir)
		if err != nil {
			return err
		}
		if open {
			break
		}
		closed = dir
		if dir == "/" {
			break
		}
	}
	return fmt.Errorf("user %s, as whom the server runs, cannot reach %s: %s is closed to it; choose another data_dir, or open the directory with \"chmod o+x %s\"", a.name, path, closed, closed)
}

// dangling says of a symbolic link that it leads nowhere.
func dangling(path string) error {
	to, err := os.Readlink(path)
	if err != nil {
		return nil // it is no link
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is a symbolic link to %s, which is not there", path, to)
	}
	return nil
}

// enters reports whether the account may enter a directory. It asks the kernel,
// in a process of that account, since mode bits alone do not tell.
func (a *account) enters(dir string) (bool, error) {
	cmd := exec.Command("/usr/bin/test", "-x", dir)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: a.credential()}
	err := cmd.Run()
	var refused *exec.ExitError
	if errors.As(err, &refused) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("checking whether user %s reaches %s: %w", a.name, dir, err)
	}
	return true, nil
}
