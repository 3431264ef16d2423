package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestLockPIDs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.db-shm")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	file := fmt.Sprintf("%02x:%02x:%d", unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)
	table := fmt.Sprintf(`1: POSIX  ADVISORY  WRITE 4711 %[1]s 120 120
1: -> POSIX  ADVISORY  WRITE 4712 %[1]s 120 120
2: POSIX  ADVISORY  READ 4713 %[1]s 124 124
3: OFDLCK ADVISORY  WRITE -1 %[1]s 0 EOF
4: POSIX  ADVISORY  WRITE %[2]d %[1]s 121 121
5: FLOCK  ADVISORY  WRITE 4714 00:01:1 0 EOF
`, file, os.Getpid())
	if diff := cmp.Diff([]int{4711}, lockPIDs(table, path)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
