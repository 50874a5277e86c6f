# Makes a Debian of folders, and everything else out of reach; stays until it is ended. WORK is where changes go, LAYERS
# are the folders it consists of, the rest are pairs of a folder of this machine and the place where it can be read.
# Run it with mounts and processes of its own.
set -eu
work=$1
layers=$2
shift 2
mkdir "$work/changed" "$work/work" "$work/root"
mount -t overlay -o "lowerdir=$layers,upperdir=$work/changed,workdir=$work/work" overlay "$work/root"
cd "$work/root"
mount -t proc proc proc
mount --rbind /dev dev
mount -t tmpfs -o mode=1777 tmpfs tmp
while [ $# -gt 0 ]; do
	mkdir -p "./$2"
	mount --bind -o ro "$1" "./$2"
	shift 2
done
pivot_root . mnt
umount -l /mnt
cd /
echo ready
exec sleep infinity
