package executor

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mincore sets the lowest bit of vec[i] where the i-th page of a mapping is in
// memory. Package unix has the number of the call and not the call itself.
func mincore(mapped, vec []byte) error {
	_, _, errno := unix.Syscall(unix.SYS_MINCORE,
		uintptr(unsafe.Pointer(unsafe.SliceData(mapped))), uintptr(len(mapped)),
		uintptr(unsafe.Pointer(unsafe.SliceData(vec))))
	if errno != 0 {
		return errno
	}
	return nil
}
