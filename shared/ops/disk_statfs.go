//go:build linux || darwin || freebsd

package ops

import "syscall"

// diskSpace returns the free space, without the part that is reserved for root, and the size of a file system.
func diskSpace(dir string) (free, size uint64, err error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, 0, err
	}
	return uint64(st.Bavail) * uint64(st.Bsize), uint64(st.Blocks) * uint64(st.Bsize), nil
}
