package main

import (
	"fmt"
	"os"
	"strings"
)

// beginning says when a process began, in ticks since the system started; empty where that is not told.
func beginning(process int) string {
	const after = 19 // of the fields behind the name of the program, which may hold anything (proc_pid_stat(5))
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil {
		return ""
	}
	text := string(stat)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) <= after {
		return ""
	}
	return fields[after]
}
