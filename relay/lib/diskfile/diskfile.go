// Package diskfile replaces files in one step, and keeps files to the person they belong to, on every system: by modes
// where there are modes, by access lists on Windows.
package diskfile

// Others is what users other than the owner may do with a file or folder.
type Others struct {
	Use        bool   // read it, change it or start it
	Write      bool   // change it
	WorldWrite bool   // change it, whoever they are; a group of the owner's does not count
	Why        string // what lets them, for people
}
