package procgroup

import "os/exec"

// Join leaves a command as it is: without a job object only the process itself is ended.
func Join(*exec.Cmd) {}
