//go:build unix

package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
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
		if err := guardedOne(real, info); err != nil {
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
	return real, nil
}

// guardedOne refuses what somebody else than an administrator could change.
func guardedOne(name string, info fs.FileInfo) error {
	file := info.Mode().IsRegular()
	stat, ok := info.Sys().(*syscall.Stat_t)
	owned := ok && (int(stat.Uid) == administrator || !file && stat.Uid == 0)
	switch open := info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSymlink == 0; {
	case !owned:
		return fmt.Errorf("%s does not belong to the administrator: chown root, chmod go-w", name)
	case open && (file || info.Mode()&fs.ModeSticky == 0): // of a sticky folder, only owners take entries away
		return fmt.Errorf("others than the administrator can write to %s (mode %04o): chmod go-w", name,
			info.Mode().Perm())
	}
	return nil
}
