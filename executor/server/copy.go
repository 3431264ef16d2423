package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A CopyMode says how the blocks of a file are copied.
type CopyMode string

// Copy modes.
const (
	CopyBytes   CopyMode = "bytes"   // read and written; holes stay holes
	CopyReflink CopyMode = "reflink" // blocks are shared where the filesystem can, else bytes
)

// Copied is what a copy came to.
type Copied struct {
	Files     int
	Apparent  uint64 // bytes by file length
	Allocated uint64 // bytes by blocks that the copy holds
	Reflinked int    // files whose blocks are shared
	Duration  time.Duration
}

// copyBuffer is the size of one read and write: large enough that their number
// does not matter, small enough to stay in the CPU's cache.
const copyBuffer = 1 << 20

// Copy copies all directories of one layout to another that does not exist yet,
// under a temporary name until all of it is verified (same files, same lengths,
// no more blocks than the source's), on disk and out of the page cache. The new
// owner file is o. The server of from must not run: its owner file must say that
// it was stopped cleanly. Logs, temporary files and option files stay behind.
func Copy(ctx context.Context, from, to Layout, o Owner, mode CopyMode) (Copied, error) {
	start := time.Now()
	source, err := from.Owner()
	if err != nil {
		return Copied{}, err
	}
	if !source.Clean {
		return Copied{}, fmt.Errorf("%s is not copied: its server was not stopped cleanly", from.Dir)
	}
	o.Clean = true
	if o.InitKey == "" {
		o.InitKey = source.InitKey
	}
	if o.Build == "" {
		o.Build = source.Build
	}
	c := copier{ctx: ctx, from: from, mode: mode, buf: make([]byte, copyBuffer)}
	err = create(to, o, func(tmp Layout) error {
		c.to, c.final = tmp, to
		return c.layout()
	})
	if err != nil {
		return Copied{}, fmt.Errorf("copying %s to %s: %w", from.Dir, to.Dir, err)
	}
	c.done.Duration = time.Since(start)
	return c.done, nil
}

// A copier copies one layout.
type copier struct {
	ctx             context.Context
	from, to, final Layout
	mode            CopyMode
	buf             []byte
	done            Copied
	allocated       uint64 // by the source
}

// layout copies the folders of all roles. Redo and binary logs that get a
// storage of their own only now are moved there at the first start (see place).
func (c *copier) layout() error {
	kept, _ := c.from.folders()
	for i, dir := range kept {
		role := filepath.Base(dir)
		target := filepath.Join(c.to.Role(role), "")
		if i == 0 {
			target = c.to.Data()
		} else if target == c.to.Data() {
			return fmt.Errorf("%s has its %s on a storage of its own, which the copy has not", c.from.Dir, role)
		}
		if err := c.tree(dir, target); err != nil {
			return err
		}
	}
	for _, dir := range c.to.Places() {
		if err := syncTree(dir); err != nil {
			return err
		}
	}
	return c.verify()
}

// tree copies one directory and all below it.
func (c *copier) tree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err == nil {
			err = c.ctx.Err()
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return c.entry(path, filepath.Join(to, rel), info)
	})
}

// entry copies one file, directory or link, with owner and mode.
func (c *copier) entry(from, to string, info fs.FileInfo) error {
	st := info.Sys().(*syscall.Stat_t)
	switch {
	case info.IsDir():
		if err := os.Mkdir(to, 0o700); err != nil {
			return err
		}
	case info.Mode().IsRegular():
		if err := c.file(from, to, st); err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
	case info.Mode()&fs.ModeSymlink != 0:
		return c.link(from, to)
	default:
		return fmt.Errorf("%s is neither file, directory nor link; is a server still running on it?", from)
	}
	if err := os.Lchown(to, int(st.Uid), int(st.Gid)); err != nil {
		return err
	}
	return os.Chmod(to, info.Mode().Perm())
}

// link copies a symbolic link that leads from one place of the layout to
// another, such as pg_wal to the storage of the redo log.
func (c *copier) link(from, to string) error {
	target, err := os.Readlink(from)
	if err != nil {
		return err
	}
	for role := range c.from.Roles {
		if rest, ok := strings.CutPrefix(target, c.from.Role(role)); ok {
			return os.Symlink(c.final.Role(role)+rest, to)
		}
	}
	return fmt.Errorf("%s is a symbolic link to %s, outside of what dbmatrix made", from, target)
}

// file copies the content of one file and keeps its holes.
func (c *copier) file(from, to string, st *syscall.Stat_t) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer dst.Close()
	shared := false
	if c.mode == CopyReflink {
		shared = unix.IoctlFileClone(int(dst.Fd()), int(src.Fd())) == nil
	}
	if !shared {
		if err := copyExtents(dst, src, st.Size, c.buf); err != nil {
			return err
		}
	}
	unix.Fadvise(int(src.Fd()), 0, 0, unix.FADV_DONTNEED) // it need not stay in memory either
	c.allocated += uint64(st.Blocks) * blockBytes
	if shared {
		c.done.Reflinked++
	}
	return nil
}

// blockBytes is the unit of st_blocks, whatever the filesystem.
const blockBytes = 512

// copyExtents copies what is data in a file and leaves what is a hole.
func copyExtents(dst, src *os.File, size int64, buf []byte) error {
	if err := dst.Truncate(size); err != nil {
		return err
	}
	for at := int64(0); at < size; {
		start, err := unix.Seek(int(src.Fd()), at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) { // only a hole is left
			return nil
		}
		end := size
		if errors.Is(err, unix.EINVAL) { // the filesystem knows no holes
			start, err = at, nil
		} else if err == nil {
			end, err = unix.Seek(int(src.Fd()), start, unix.SEEK_HOLE)
		}
		if err != nil {
			return err
		}
		section := io.NewSectionReader(src, start, end-start)
		out := io.NewOffsetWriter(dst, start)
		if _, err := io.CopyBuffer(struct{ io.Writer }{out}, struct{ io.Reader }{section}, buf); err != nil {
			return err
		}
		at = end
	}
	return nil
}

// verify compares the file lists of both sides, and what they take on disk. A
// copy may take less: blocks that a server allocated ahead and never wrote read
// as a hole. It may not take more, beyond what block maps differ in.
func (c *copier) verify() error {
	kept, _ := c.from.folders()
	copied, _ := c.to.folders()
	want, err := fileList(kept)
	if err != nil {
		return err
	}
	got, err := fileList(copied)
	if err != nil {
		return err
	}
	for name, source := range want {
		have, ok := got[name]
		if !ok || have.size != source.size {
			return fmt.Errorf("%s changed while it was copied: is a server still running on it?", name)
		}
		c.done.Files++
		c.done.Apparent += uint64(have.size)
		c.done.Allocated += have.allocated
	}
	const slack = 1 << 20
	if c.done.Allocated > c.allocated+c.allocated/50+slack {
		return fmt.Errorf("the copy takes %d bytes on disk and the source only %d: holes were lost", c.done.Allocated, c.allocated)
	}
	return nil
}

// A fileSize is the length of a file and what it takes on disk.
type fileSize struct {
	size      int64
	allocated uint64
}

// fileList returns the files below directories with their sizes, by the name of
// the directory and the path in it.
func fileList(dirs []string) (map[string]fileSize, error) {
	files := map[string]fileSize{}
	for _, dir := range dirs {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			continue // a role that got a storage of its own only now
		}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(filepath.Dir(dir), path)
			files[rel] = fileSize{info.Size(), uint64(info.Sys().(*syscall.Stat_t).Blocks) * blockBytes}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}
