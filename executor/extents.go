package executor

import (
	"fmt"
	"os"
	"unsafe"

	"dbmatrix/executor/server"
	"dbmatrix/matrix"

	"golang.org/x/sys/unix"
)

// fiemap is the kernel's struct fiemap (Documentation/filesystems/fiemap.rst)
// without room for extents: the kernel then only counts them.
type fiemap struct {
	start, length uint64
	flags         uint32
	mapped        uint32 // out: how many extents there are
	count         uint32 // how many there is room for
	_             uint32
}

// fsIocFiemap is _IOWR('f', 11, struct fiemap), the same on every architecture
// that Linux lets the sizes of ioctls have 14 bits on.
const fsIocFiemap = 0xc020660b

// countExtents returns into how many extents the files of a layout are split.
func countExtents(l server.Layout) (matrix.Metric, error) {
	var total uint64
	err := eachFile(l, func(f *os.File, _ int64) error {
		m := fiemap{length: ^uint64(0)}
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), fsIocFiemap, uintptr(unsafe.Pointer(&m)))
		if errno != 0 {
			return fmt.Errorf("%s: %w", f.Name(), errno)
		}
		total += uint64(m.mapped)
		return nil
	})
	if err != nil {
		return matrix.Metric{}, fmt.Errorf("counting the extents of the data: %w", err)
	}
	return matrix.Metric{Name: "size_extents", Unit: "count", Value: float64(total)}, nil
}
