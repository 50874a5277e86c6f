#!/bin/sh
# Makes a Debian for the tests of this folder, from where this machine's apt gets its packages: FOLDER/root with a
# browser, a screen and a person, ada; beside it what an overlay adds to it: FOLDER/node and FOLDER/build. It needs
# root, Debian's debootstrap, and mounts that nobody else sees: unshare --mount sh debian.sh FOLDER
set -eu
mkdir -p "$1"
folder=$(realpath "$1")
root=$folder/root
lists=$(apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(REPO_URI) $(RELEASE)' 'Identifier: Packages' |
	awk '$1 == "Debian" && $2 == "main" { print $3, $4 }')
# The first one without a suffix: not the updates of a release, nor what is for its security.
main=$(echo "$lists" | awk '$2 !~ /-/ { print; exit }')
if [ -z "$main" ]; then
	echo "error: this machine's apt has no Debian among its sources" >&2
	exit 1
fi

# What its programs need, where $1 is.
furnish() {
	mount --bind /proc "$1/proc"
	mount --rbind /dev "$1/dev"
	mount -t tmpfs tmpfs "$1/tmp"
}

# install WHERE PACKAGES
install() {
	where=$1
	shift
	DEBIAN_FRONTEND=noninteractive chroot "$where" apt-get install -y -q --no-install-recommends "$@"
	chroot "$where" apt-get clean
}

if [ ! -e "$folder/root.whole" ]; then
	rm -rf --one-file-system "$root"
	debootstrap --variant=minbase --include=ca-certificates "${main#* }" "$root" "${main% *}"
	rm -f "$root/etc/apt/sources.list"
	echo "$lists" | sed 's/.*/deb & main/' >"$root/etc/apt/sources.list.d/debian.list"
	cp /etc/resolv.conf "$root/etc/resolv.conf"
	furnish "$root"
	chroot "$root" apt-get update -q
	install "$root" chromium chromium-sandbox fonts-liberation sudo scrot xdotool xvfb
	umount -R "$root/proc" "$root/dev" "$root/tmp"
	chroot "$root" useradd --create-home --shell /bin/bash ada
	echo 'ada ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/ada"
	touch "$folder/root.whole"
fi

# layer NAME PACKAGES
layer() {
	name=$1
	shift
	[ ! -e "$folder/$name.whole" ] || return 0
	rm -rf --one-file-system "${folder:?}/$name" "$folder/work"
	mkdir -p "$folder/$name" "$folder/work" "$folder/mount"
	mount -t overlay -o "lowerdir=$root,upperdir=$folder/$name,workdir=$folder/work" overlay "$folder/mount"
	furnish "$folder/mount"
	install "$folder/mount" "$@"
	umount -R "$folder/mount"
	rm -rf --one-file-system "$folder/work" "$folder/mount"
	touch "$folder/$name.whole"
}
layer node nodejs
layer build git make
touch "$folder/whole"
