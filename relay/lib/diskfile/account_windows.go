package diskfile

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// user is the account of this process.
var user = sync.OnceValue(func() *windows.SID {
	who, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		panic("diskfile: the process has no user: " + err.Error()) // never: every token has one
	}
	return who.User.Sid
})

// trusted reports whether an account in an access list is no other user: this one, the system, administrators, or the
// owner, whoever that is.
func trusted(sid *windows.SID) bool {
	return sid.Equals(user()) || sid.IsWellKnown(windows.WinLocalSystemSid) ||
		sid.IsWellKnown(windows.WinBuiltinAdministratorsSid) || sid.IsWellKnown(windows.WinCreatorOwnerSid) ||
		sid.IsWellKnown(windows.WinCreatorOwnerRightsSid)
}

// sidOf is the account of an entry, which begins in its last field.
func sidOf(entry *windows.ACCESS_ALLOWED_ACE) *windows.SID {
	return (*windows.SID)(unsafe.Pointer(&entry.SidStart))
}

// account is the name of an account, or the number where it has none.
func account(sid *windows.SID) string {
	name, domain, _, err := sid.LookupAccount("")
	switch {
	case err != nil:
		return sid.String()
	case domain == "":
		return name
	}
	return domain + `\` + name
}
