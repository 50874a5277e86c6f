// Package install brings plugins from elsewhere: from a tarball, or from a package registry by name. What it brings is
// verified before it is unpacked, unpacked where nothing of it can escape, and pinned: a plugin whose files are not the
// ones that were installed is not offered.
package install
