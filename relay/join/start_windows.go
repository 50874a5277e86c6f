package join

import "syscall"

// Flags of CreateProcess that package syscall does not name.
const (
	detachedProcess        = 0x00000008
	createBreakawayFromJob = 0x01000000
)

// detached gives a process no console and a group of its own, outside the job of the client that started us.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: detachedProcess | createBreakawayFromJob | syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}
