package server

// LockRecord takes the lock of a record of results, which lies beside it. The lock
// of the host does not keep apart two runners that have different ones, such as
// those of two containers.
func LockRecord(path string) (*Lock, error) { return lock(path + "-lock") }
