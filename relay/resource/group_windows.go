package resource

import "os/exec"

// withGroup leaves a command as it is: without a job object only the process itself is ended.
func withGroup(*exec.Cmd) {}
