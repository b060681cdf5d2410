# shellcheck shell=sh
# Sourced by check and image: finds the Buildroot checkout, from the first argument or $BUILDROOT, and sets $checkout.

tried=2026.05.1

fail() { # fail ENGLISH CHINESE: both on stderr, Chinese first
	printf '%s\n%s\n' "$2" "$1" >&2
	exit 1
}

boards() { # the names of the boards that have a configuration, on one line
	for f in buildroot/configs/homeagent_*_defconfig; do
		f=${f##*/homeagent_}
		printf '%s ' "${f%_defconfig}"
	done
}

BUILDROOT=${1:-${BUILDROOT:-}}
[ -n "$BUILDROOT" ] || fail \
	"Give the folder of a Buildroot checkout: BUILDROOT=folder. Buildroot $tried is the version that was tried; get it from https://buildroot.org/download.html" \
	"请指定 Buildroot 源码所在的文件夹：BUILDROOT=文件夹。试过的版本是 $tried，下载地址 https://buildroot.org/download.html"
if [ ! -f "$BUILDROOT/Makefile" ] || [ ! -f "$BUILDROOT/Config.in" ] || [ ! -d "$BUILDROOT/package/busybox" ]; then
	fail \
		"$BUILDROOT is no Buildroot checkout (no Makefile, Config.in, package/busybox there). Unpack Buildroot $tried and give that folder." \
		"$BUILDROOT 不是 Buildroot 源码（没有 Makefile、Config.in、package/busybox）。请解压 Buildroot $tried 并指定解压出的文件夹。"
fi
checkout=$(cd "$BUILDROOT" && pwd)

# What our own make was called with would become variables of Buildroot's make, and of every package's.
unset BUILDROOT BOARD MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

version=$(sed -n 's/^export BR2_VERSION := //p' "$checkout/Makefile")
[ "$version" = "$tried" ] || printf '%s\n%s\n' \
	"注意：这是 Buildroot ${version:-（版本不明）}，试过的版本是 $tried；其他版本的选项可能不同。" \
	"Note: this is Buildroot ${version:-of unknown version}; $tried was tried, and options differ between versions." >&2
