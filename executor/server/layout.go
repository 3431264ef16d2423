package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dbmatrix/matrix"
)

// Kinds of directories that dbmatrix makes.
const (
	KindRun      = "run"
	KindTemplate = "template"
	KindSnapshot = "snapshot"
)

// Roles of files that may lie on a storage of their own.
const (
	roleData   = "data"
	roleRedo   = "redo"
	roleBinlog = "binlog"
	roleTmp    = "tmp"
)

// A Layout tells where the files of one data directory lie. Everything of a
// role (redo, binlog, tmp) that has a storage of its own lies in a directory of
// the same name there, with an owner file of its own.
//
//	<storage of data>/<kind>s/<name>/dbmatrix-owner.json
//	                                 data/     the server's data directory
//	                                 my.cnf    the option file
//	                                 logs/     error.<n>.log, a new one for each start
//	                                 tmp/      temporary files
//	<storage of redo>/<kind>s/<name>/dbmatrix-owner.json
//	                                 redo/     the redo log
//
// Redo and binary logs without a storage of their own lie in data/, where the
// server puts them.
type Layout struct {
	Dir   string            // on the storage of role data
	Roles map[string]string // role to directory, of roles on a storage of their own
}

// NewLayout returns the layout of a directory of a kind and name for settings.
// It makes nothing. Storage without a name is dataDir.
func NewLayout(dataDir, kind, name string, s *matrix.Settings) (Layout, error) {
	if name == "" || strings.ContainsAny(name, "/\x00") || strings.HasPrefix(name, ".") {
		return Layout{}, fmt.Errorf("%q is no name for a directory", name)
	}
	place := func(role string) (string, error) {
		st, ok := s.Storage[role]
		if !ok && role != roleData {
			return "", nil
		}
		root := st.Dir
		if st.Name == "" && root == "" {
			root = dataDir
		}
		if !filepath.IsAbs(root) {
			return "", fmt.Errorf("storage %q has no place on this host", st.Name)
		}
		return filepath.Join(root, kind+"s", name), nil
	}
	dir, err := place(roleData)
	if err != nil {
		return Layout{}, err
	}
	l := Layout{Dir: dir}
	for _, role := range []string{roleRedo, roleBinlog, roleTmp} {
		d, err := place(role)
		if err != nil {
			return Layout{}, err
		}
		if d != "" && d != dir {
			if l.Roles == nil {
				l.Roles = map[string]string{}
			}
			l.Roles[role] = d
		}
	}
	return l, nil
}

// LayoutAt returns the layout of a directory that is there, by its owner file.
func LayoutAt(dir string) (Layout, error) {
	o, err := ReadOwner(dir)
	return Layout{Dir: dir, Roles: o.Roles}, err
}

// Data returns the server's data directory.
func (l Layout) Data() string { return l.Dir + "/data" }

// Logs returns the directory of the server's logs.
func (l Layout) Logs() string { return l.Dir + "/logs" }

// Role returns the directory of a role: data, redo, binlog or tmp. Redo and
// binlog are in the data directory where they have no storage of their own.
func (l Layout) Role(role string) string {
	if d, ok := l.Roles[role]; ok {
		return d + "/" + role
	}
	if role == roleTmp {
		return l.Dir + "/" + roleTmp
	}
	return l.Data()
}

// Places returns all directories of the layout, that of the data first.
func (l Layout) Places() []string {
	places := []string{l.Dir}
	for _, role := range []string{roleRedo, roleBinlog, roleTmp} {
		if d, ok := l.Roles[role]; ok && !slices.Contains(places, d) {
			places = append(places, d)
		}
	}
	return places
}

// fits reports whether the paths of the layout are short enough for a flavour.
func (l Layout) fits(f Flavour) error {
	kept, scratch := l.folders()
	for _, dir := range append(kept, scratch...) {
		if most := f.pathLimit(); len(dir) > most {
			return fmt.Errorf("the path of %s has %d bytes, and %s takes %d: choose a shorter data_dir or storage", dir, len(dir), f.Dialect().Flavour, most)
		}
	}
	return nil
}

// folders returns the directories inside a layout's places that hold what a
// server wrote and a copy must carry, and those that it needs but a copy leaves
// behind.
func (l Layout) folders() (kept, scratch []string) {
	kept = []string{l.Data()}
	for _, role := range []string{roleRedo, roleBinlog} {
		if _, ok := l.Roles[role]; ok {
			kept = append(kept, l.Role(role))
		}
	}
	return kept, []string{l.Role(roleTmp), l.Logs()}
}

// renamed returns the layout with a suffix on the name of each of its places.
func (l Layout) renamed(suffix string) Layout {
	r := Layout{Dir: l.Dir + suffix}
	for role, d := range l.Roles {
		if r.Roles == nil {
			r.Roles = map[string]string{}
		}
		r.Roles[role] = d + suffix
	}
	return r
}

// Exists reports whether the layout's directory is there and is ours. A
// directory that is there and is not ours is an error.
func (l Layout) Exists() (bool, error) {
	_, err := l.Owner()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Create makes the directories of a layout, empty but for the owner file. It
// fails where one exists.
func (l Layout) Create(o Owner) error {
	return create(l, o, func(Layout) error { return nil })
}

// tmpMark and trashMark stand in the names of directories that are not finished,
// and of those that are being removed.
const (
	tmpMark   = ".tmp-"
	trashMark = ".trash-"
)

// create is the one place where dbmatrix makes a directory of its own: under a
// temporary name, with the owner file first; then fill, which makes what it
// writes durable; then it gets its name, the place of the data last. Whoever
// sees the name sees the whole.
func create(l Layout, o Owner, fill func(tmp Layout) error) (err error) {
	if err := makeRoom(l); err != nil {
		return err
	}
	tmp := l.renamed(tmpMark + randomHex(4))
	defer func() {
		if err != nil {
			err = errors.Join(err, removeMade(tmp))
		}
	}()
	if err := makePlaces(tmp, o); err != nil {
		return err
	}
	if err := fill(tmp); err != nil {
		return err
	}
	// That of the data comes last.
	from, to := tmp.Places(), l.Places()
	for i := len(to) - 1; i >= 0; i-- {
		if err := namePlace(from[i], to[i], l.Roles); err != nil {
			return err
		}
	}
	return nil
}

// makePlaces makes the directories of a layout, with nothing but owner files.
func makePlaces(l Layout, o Owner) error {
	if o.Token == "" {
		o.Token = NewToken()
	}
	o.Roles = l.Roles
	if o.Created.IsZero() {
		o.Created = time.Now()
	}
	for _, dir := range l.Places() {
		if _, err := os.Lstat(dir); err == nil {
			return fmt.Errorf("%s exists already", dir)
		}
		if err := makeDirs(dir); err != nil {
			return err
		}
		o.Path = dir
		if err := o.write(dir); err != nil {
			return err
		}
	}
	return nil
}

// namePlace gives a directory its final name; its owner file tells then where the
// other places of its layout are.
func namePlace(from, to string, roles map[string]string) error {
	o, err := ReadOwner(from)
	if err != nil {
		return err
	}
	o.Path, o.Roles = to, roles
	if err := o.write(from); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}

// makeRoom checks that a layout is not there yet. Places other than that of the
// data are left over where a power cut came between two renames; they are
// removed if they are ours.
func makeRoom(l Layout) error {
	places := l.Places()
	if ours, err := l.Exists(); err != nil || ours {
		if err == nil {
			err = fmt.Errorf("%s exists already", l.Dir)
		}
		return err
	}
	for _, dir := range places[1:] {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := removePlace(dir); err != nil {
			return err
		}
	}
	return nil
}

// removeMade removes those places of a layout that are there, and the socket of a
// server that was started in it.
func removeMade(l Layout) error {
	if o, err := l.Owner(); err == nil {
		if err := o.removeSockets(); err != nil {
			return err
		}
	}
	for _, dir := range l.Places() {
		if _, err := os.Lstat(dir); err == nil {
			if err := removePlace(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// Leftovers returns the directories under the given ones (data_dir and storages)
// that were made under a temporary name and never finished, or whose removal was
// cut short. Remove takes them.
func Leftovers(dirs ...string) ([]Layout, error) {
	var found []Layout
	for _, root := range dirs {
		dirs, err := Listed(root, KindRun, KindTemplate, KindSnapshot)
		if err != nil {
			return nil, err
		}
		for _, dir := range dirs {
			name := filepath.Base(dir)
			if !strings.Contains(name, tmpMark) && !strings.Contains(name, trashMark) {
				continue
			}
			if _, err := ReadOwner(dir); err == nil {
				found = append(found, Layout{Dir: dir})
			}
		}
	}
	return found, nil
}

// Listed returns the paths of all that lies where directories of some kinds are
// made below root (a data_dir or a storage), kind by kind and sorted by name: ours
// or not, ReadOwner tells. Where nothing was made there is nothing.
func Listed(root string, kinds ...string) ([]string, error) {
	var paths []string
	for _, kind := range kinds {
		folder := filepath.Join(root, kind+"s")
		entries, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			paths = append(paths, filepath.Join(folder, e.Name()))
		}
	}
	return paths, nil
}
