package diskfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"github.com/rogpeppe/go-internal/robustio"
	"golang.org/x/sys/windows"

	"tabrelay/relay/lib/random"
)

// Write replaces a file, or makes it. Whoever reads it meanwhile finds all of the old or all of the new content. While
// another program has the old file open, replacing it is tried again.
func Write(path string, content []byte, perm fs.FileMode) (err error) {
	next, err := create(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+random.Hex(8)), perm)
	if err != nil {
		return err
	}
	_, err = next.Write(content)
	if err == nil {
		err = next.Sync()
	}
	err = errors.Join(err, next.Close())
	if err == nil {
		err = robustio.Rename(next.Name(), path)
	}
	if err != nil {
		_ = os.Remove(next.Name()) // the failure is told
	}
	return err
}

// create makes a file. One that only its owner may use is so from the beginning.
func create(path string, perm fs.FileMode) (*os.File, error) {
	if perm&0o077 != 0 {
		return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: path, Err: err}
	}
	access, err := attributes("")
	if err != nil {
		return nil, err
	}
	handle, err := windows.CreateFile(name, windows.GENERIC_WRITE, windows.FILE_SHARE_READ, access, windows.CREATE_NEW,
		windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: path, Err: err}
	}
	return os.NewFile(uintptr(handle), path), nil
}

// attributes are those of something that is made for this user, the system and administrators.
func attributes(heirs string) (*windows.SecurityAttributes, error) {
	descriptor, err := windows.SecurityDescriptorFromString(closed(heirs))
	if err != nil {
		return nil, err
	}
	size := uint32(unsafe.Sizeof(windows.SecurityAttributes{}))
	return &windows.SecurityAttributes{Length: size, SecurityDescriptor: descriptor}, nil
}

// MakeFolder makes a folder that is closed to other users, and those above it. One that is there stays as it is.
func MakeFolder(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return &fs.PathError{Op: "mkdir", Path: path, Err: err}
	}
	access, err := attributes(inherited)
	if err != nil {
		return err
	}
	err = windows.CreateDirectory(name, access)
	if errors.Is(err, fs.ErrExist) {
		return os.MkdirAll(path, 0o700) // unless it is a file
	}
	if err != nil {
		return &fs.PathError{Op: "mkdir", Path: path, Err: err}
	}
	return nil
}

// inherited has what is made in a folder get the folder's access list.
const inherited = "OICI"

// OthersOf is what other users may do with a file, whose info is that of path. The system itself and administrators
// may do everything anyway.
func OthersOf(path string, _ fs.FileInfo) Others {
	descriptor, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return Others{} // whoever may not look at the list may not use the file either, and is told so
	}
	list, _, err := descriptor.DACL()
	if err != nil || list == nil { // a file without a list is open to all
		return Others{Use: true, Write: true, WorldWrite: true, Why: "there is no access list"}
	}
	var found Others
	var who []string
	for i := range uint32(list.AceCount) {
		var entry *windows.ACCESS_ALLOWED_ACE
		if windows.GetAce(list, i, &entry) != nil || entry.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE ||
			entry.Header.AceFlags&windows.INHERIT_ONLY_ACE != 0 {
			continue
		}
		sid := sidOf(entry)
		if entry.Mask&use == 0 || trusted(sid) {
			continue
		}
		found.Use = true
		found.Write = found.Write || entry.Mask&write != 0
		who = append(who, account(sid))
	}
	found.WorldWrite, found.Why = found.Write, "open to "+strings.Join(who, ", ")
	return found
}

// Rights in an access list; those that package windows does not name are FILE_WRITE_DATA and others of files.
const (
	write = 0x2 | 0x4 | 0x40 | windows.DELETE | windows.WRITE_DAC | windows.WRITE_OWNER | windows.GENERIC_WRITE |
		windows.GENERIC_ALL
	use = write | 0x1 | 0x20 | windows.GENERIC_READ | windows.GENERIC_EXECUTE
)

// Closing is the command with which a person keeps others out of a file or folder.
func Closing(path string, folder bool) string {
	rights := "F"
	if folder {
		rights = "(OI)(CI)F"
	}
	return fmt.Sprintf(`icacls "%s" /inheritance:r /grant:r "%s:%s"`, path, account(user()), rights)
}

// Close keeps other users out of a file or folder.
func Close(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	heirs := ""
	if info.IsDir() {
		heirs = inherited
	}
	descriptor, err := windows.SecurityDescriptorFromString(closed(heirs))
	if err != nil {
		return err
	}
	entries, _, err := descriptor.DACL()
	if err != nil {
		return err
	}
	err = windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT,
		windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, entries, nil)
	if err != nil {
		return &fs.PathError{Op: "close to other users", Path: path, Err: err}
	}
	return nil
}

// closed is an access list, in the language of security descriptors, for this user, the system and administrators.
func closed(heirs string) string {
	list := "D:P"
	for _, who := range []string{user().String(), "SY", "BA"} {
		list += fmt.Sprintf("(A;%s;FA;;;%s)", heirs, who)
	}
	return list
}

// PipeAccess is the access list of a pipe that no other user may open, in the language of security descriptors.
func PipeAccess() string { return closed("") }

// Owned reports true: who may do what with a file is in its access list.
func Owned(fs.FileInfo) bool { return true }
