package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// systemPolicyFile is in the folder that the system names, not the environment.
func systemPolicyFile() string {
	folder, err := windows.KnownFolderPath(windows.FOLDERID_ProgramData, windows.KF_FLAG_DEFAULT)
	if err != nil {
		folder = `C:\ProgramData`
	}
	return filepath.Join(folder, "tabrelay", "policy.json")
}

// readAdministrators reads a file that belongs, with its folder, to the administrators or the system. Everybody may
// make files in ProgramData, and nobody may change there what others made.
func readAdministrators(file string) ([]byte, error) {
	if _, err := os.Lstat(file); err != nil {
		return nil, err
	}
	for _, one := range []string{file, filepath.Dir(file)} {
		if err := administrators(one); err != nil {
			return nil, err
		}
	}
	return readRegular(file, maxFile)
}

func administrators(name string) error {
	security, err := windows.GetNamedSecurityInfo(name, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return err
	}
	owner, _, err := security.Owner()
	if err != nil {
		return err
	}
	if owner == nil {
		return errors.New(name + " has no owner")
	}
	if !owner.IsWellKnown(windows.WinBuiltinAdministratorsSid) && !owner.IsWellKnown(windows.WinLocalSystemSid) {
		return fmt.Errorf("%s does not belong to the administrators: icacls /setowner Administrators", name)
	}
	return nil
}
