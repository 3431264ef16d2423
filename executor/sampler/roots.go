package sampler

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"dbmatrix/matrix"

	"github.com/prometheus/procfs"
)

// Roots are where a host shows its own files.
type Roots struct {
	Proc string // "/proc"
	Sys  string // "/sys"
	Etc  string // "/etc"
}

// System returns the roots of the host that this process runs on.
func System() Roots { return Roots{Proc: "/proc", Sys: "/sys", Etc: "/etc"} }

// Machine returns the host as a plan knows it. Its id is the machine id
// (machine-id(5)), or the host name where there is none, as in a container.
func Machine(r Roots) (matrix.Host, error) {
	fs, err := procfs.NewFS(r.Proc)
	if err != nil {
		return matrix.Host{}, err
	}
	stat, err := fs.Stat()
	if err != nil {
		return matrix.Host{}, err
	}
	memory, err := fs.Meminfo()
	if err != nil {
		return matrix.Host{}, err
	}
	h := matrix.Host{ID: read(r.Etc, "machine-id"), CPUs: len(stat.CPU)}
	if memory.MemTotalBytes != nil {
		h.Memory = int(*memory.MemTotalBytes >> 30)
	}
	if h.ID == "" {
		h.ID = "hostname:" + read(r.Proc, "sys/kernel/hostname")
	}
	return h, nil
}

// read returns the text of a file without blanks around it, or "" where it
// cannot be read: hosts show very different things.
func read(root string, path ...string) string {
	b, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// readNumber is read for a number; false where there is none.
func readNumber(root string, path ...string) (uint64, bool) {
	n, err := strconv.ParseUint(read(root, path...), 10, 64)
	return n, err == nil
}
