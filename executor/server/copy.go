package server

import (
	"context"
	"errors"
	"time"
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

// Copy copies all directories of one layout to another that does not exist yet,
// under a temporary name until all of it is verified (same files, same lengths,
// about the same allocated size), on disk and out of the page cache. The new
// owner file is o. The server of from must not run.
func Copy(ctx context.Context, from, to Layout, o Owner, mode CopyMode) (Copied, error) {
	return Copied{}, errors.New("not built yet")
}
