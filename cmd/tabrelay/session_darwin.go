package main

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// beginning says when a process began, in microseconds; empty where that is not told.
func beginning(process int) string {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", process)
	if err != nil {
		return ""
	}
	began := info.Proc.P_starttime
	return strconv.FormatInt(began.Sec*1e6+int64(began.Usec), 10)
}
