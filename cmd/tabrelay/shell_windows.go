package main

import (
	"path/filepath"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
)

// plainWord is a word that neither cmd nor PowerShell needs quotes for.
var plainWord = lazyregexp.New(`^[\pL\pN_+=:./\\-]+$`)

// shellWord quotes text as one word of a command, for cmd and PowerShell. A path has no quotes in it; in other texts
// they are doubled.
func shellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

// intoPath is a command of PowerShell after which this program is called by its name, in new windows.
func intoPath(exe, _ string) string {
	folder := strings.ReplaceAll(filepath.Dir(exe), "'", "''")
	return `powershell -Command "[Environment]::SetEnvironmentVariable('Path', ` +
		`[Environment]::GetEnvironmentVariable('Path', 'User') + ';` + folder + `', 'User')"`
}
