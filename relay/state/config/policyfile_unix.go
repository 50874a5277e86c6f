//go:build unix

package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
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

// readAdministrators reads a file that only an administrator can have written, wherever links lead to it.
func readAdministrators(file string) ([]byte, error) {
	if _, err := os.Lstat(file); err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(file)
	if err != nil { // not a file that is missing: something has its name
		return nil, errors.New("it is a link that leads nowhere, or to what you may not see")
	}
	for _, one := range []string{file, real} {
		if err := guardedUp(one); err != nil {
			return nil, err
		}
	}
	text, err := readRegular(real)
	if err != nil && errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("it was taken away while it was read")
	}
	return text, err
}

// guardedUp refuses a file that somebody else than an administrator could change, or replace in one of its folders.
func guardedUp(name string) error {
	for file := true; ; file = false {
		info, err := os.Lstat(name)
		if err != nil {
			return err
		}
		if err := guardedOne(name, info, file); err != nil {
			return err
		}
		above := filepath.Dir(name)
		if above == name {
			return nil
		}
		name = above
	}
}

func guardedOne(name string, info fs.FileInfo, file bool) error {
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
