//go:build unix

package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// administrator is the user to whom a policy belongs, and every folder above it.
var administrator = 0

// systemPolicyFile is where a system has what an administrator writes for one program.
func systemPolicyFile() string {
	if runtime.GOOS == "darwin" {
		return "/Library/Application Support/tabrelay/policy.json"
	}
	return "/etc/tabrelay/policy.json"
}

// maxLinks is how many links a name may lead through.
const maxLinks = 40

// readAdministrators reads a file that only an administrator can have written, wherever links lead to it.
func readAdministrators(file string) ([]byte, error) {
	real, err := guardedWay(file)
	if err != nil {
		return nil, err
	}
	text, err := readRegular(real, maxFile)
	if err != nil && errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("it was taken away while it was read")
	}
	return text, err
}

// guardedWay is the file that a name leads to. It refuses a way on which somebody else than an administrator could
// change something: the file, a folder on the way to it, a link, or a folder on the way to what a link names. Where
// there is no file of the name it is [fs.ErrNotExist]; a link to what does not exist is another error.
func guardedWay(name string) (real string, err error) {
	parts := func(path string) []string { return strings.Split(path, "/") }
	var unseen error
	left := parts(filepath.Clean(name)) // the first one is empty, for the root
	own, links := len(left), 0          // how many of left are of the name itself, at its end
	for len(left) > 0 {
		isOwn, part := len(left) == own, left[0]
		if left = left[1:]; isOwn {
			own--
		}
		if part == ".." { // no part of what is behind it is a link
			real = filepath.Dir(real)
			continue
		}
		real = filepath.Join("/", real, part)
		info, err := os.Lstat(real)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !isOwn:
			return "", errors.New("it is a link that leads nowhere")
		case err != nil:
			return "", err
		}
		if err := guardedOne(real, info); errors.Is(err, errUnseen) {
			unseen = cmp.Or(unseen, err) // no reason to fail where there is no policy
		} else if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		if links++; links > maxLinks {
			return "", errors.New("it leads through too many links")
		}
		to, err := os.Readlink(real)
		if err != nil {
			return "", err
		}
		if real = filepath.Dir(real); filepath.IsAbs(to) {
			real = "/"
		}
		left = append(parts(to), left...)
	}
	return real, unseen
}

// errUnseen is that of an owner who is not known in the user namespace of this process.
var errUnseen = errors.New("this process runs in a user namespace that does not know the administrator")

// guardedOne refuses what somebody else than an administrator could change.
func guardedOne(name string, info fs.FileInfo) error {
	file := info.Mode().IsRegular()
	stat, ok := info.Sys().(*syscall.Stat_t)
	owned := ok && (int(stat.Uid) == administrator || !file && stat.Uid == 0)
	switch open := info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSymlink == 0; {
	case !owned && !(ok && isUnmapped(stat.Uid)):
		return fmt.Errorf("%s does not belong to the administrator: chown root, chmod go-w", name)
	case open && (file || info.Mode()&fs.ModeSticky == 0): // of a sticky folder, only owners take entries away
		return fmt.Errorf("others than the administrator can write to %s (mode %04o): chmod go-w", name,
			info.Mode().Perm())
	case !owned:
		return fmt.Errorf("nobody can tell here whether %s belongs to the administrator, because %w: run the relay "+
			"outside of the sandbox, or map root into it", name, errUnseen)
	}
	return nil
}

// isUnmapped reports whether a user stands for all that are unknown in the user namespace of this process, root among
// them. Linux has these namespaces, and sandboxes use them.
func isUnmapped(uid uint32) bool {
	overflow, err := os.ReadFile("/proc/sys/kernel/overflowuid")
	if err != nil || strings.TrimSpace(string(overflow)) != strconv.FormatUint(uint64(uid), 10) {
		return false
	}
	known, err := os.ReadFile("/proc/self/uid_map") // lines of: first user inside, first one outside, how many
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(known)) {
		if first := strings.Fields(line); len(first) == 3 && first[0] == "0" {
			return false
		}
	}
	return true
}
