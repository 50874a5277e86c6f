package launch

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// programs are the processes that the browser has started and that still run: those of its process group, which is
// named after it. A process id is not used again while a group has it for its name.
func (m *Managed) programs() (pids []int) {
	switch runtime.GOOS {
	case "linux":
		return m.programsIn(linuxProcesses())
	case "windows":
		return nil // they end with the browser
	}
	text, err := exec.Command("ps", "-axo", "pid=,pgid=,stat=").Output()
	if err != nil {
		return nil
	}
	return m.programsIn(parseProcesses(string(text)))
}

// process is a row of the list of processes. One that has ended, and that its parent has not asked for, is none.
type process struct{ pid, group int }

func (m *Managed) programsIn(all []process) (pids []int) {
	for _, p := range all {
		switch {
		case p.group != m.PID:
		case p.pid == m.PID && !m.alive():
			return nil // another program has the id and the group by now
		case p.pid != m.PID:
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// linuxProcesses reads /proc: a container may have no ps.
func linuxProcesses() (all []process) {
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		if entry.Name()[0] < '0' || entry.Name()[0] > '9' {
			continue
		}
		text, err := os.ReadFile("/proc/" + entry.Name() + "/stat")    // it may have ended meanwhile
		after := string(text)[strings.LastIndex(string(text), ")")+1:] // the program's name is before it, in brackets
		fields := strings.Fields(after)                                // state, parent, group
		if err == nil && len(fields) > 2 {
			all = appendProcess(all, entry.Name(), fields[2], fields[0])
		}
	}
	return all
}

// parseProcesses reads what ps says.
func parseProcesses(text string) (all []process) {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) == 3 {
			all = appendProcess(all, fields[0], fields[1], fields[2])
		}
	}
	return all
}

func appendProcess(all []process, pid, group, state string) []process {
	p, err := strconv.Atoi(pid)
	g, wrong := strconv.Atoi(group)
	if err != nil || wrong != nil || strings.HasPrefix(state, "Z") || strings.HasPrefix(state, "X") {
		return all
	}
	return append(all, process{p, g})
}
