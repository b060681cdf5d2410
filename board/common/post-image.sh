#!/bin/sh
# post-image.sh BINARIES_DIR BOARD: the card's image from kernel, firmware, U-Boot and root, the same for Buildroot and for
# the assembler. Needs mkimage, mkenvimage, mkfs.vfat, mtools, mke2fs, genimage; no loop mounts, no root.
# The same input gives the same bytes: fixed identifiers, times from SOURCE_DATE_EPOCH, files in order.
# Environment: HOMEAGENT_VERSION, SOURCE_DATE_EPOCH, HOMEAGENT_COMPRESS=1 (also .img.xz and .sha256), HOMEAGENT_OUT.
set -eu

binaries=$(cd "${1:?usage: post-image.sh BINARIES_DIR BOARD}" && pwd)
board=${2:?usage: post-image.sh BINARIES_DIR BOARD}
common=$(cd "$(dirname "$0")" && pwd)
boarddir=$common/../$board
version=${HOMEAGENT_VERSION:-dev}
out=${HOMEAGENT_OUT:-$binaries}
epoch=${SOURCE_DATE_EPOCH:-1767225600}

# Nothing of the builder's place, time or language gets into the image.
export TZ=UTC LC_ALL=C SOURCE_DATE_EPOCH="$epoch" MTOOLS_SKIP_CHECK=1 MTOOLSRC=/dev/null
umask 022

# shellcheck source=layout.env
. "$common/layout.env"
# shellcheck source=../rpi3-64/meta
. "$boarddir/meta"

fail() {
	echo "post-image.sh: $*" >&2
	exit 1
}

render() { # render TEMPLATE: @NAME@ becomes the value of NAME
	sed -e "s|@DISK_SIGNATURE@|$DISK_SIGNATURE|g" \
		-e "s|@ENV_OFFSET_1@|$ENV_OFFSET_1|g" -e "s|@ENV_OFFSET_2@|$ENV_OFFSET_2|g" -e "s|@ENV_SIZE@|$ENV_SIZE|g" \
		-e "s|@SETUP_PART@|$SETUP_PART|g" -e "s|@SETUP_OFFSET_MIB@|$SETUP_OFFSET_MIB|g" -e "s|@SETUP_MIB@|$SETUP_MIB|g" \
		-e "s|@SLOT_A_PART@|$SLOT_A_PART|g" -e "s|@SLOT_B_PART@|$SLOT_B_PART|g" -e "s|@SLOT_MIB@|$SLOT_MIB|g" \
		-e "s|@EXTENDED_PART@|$EXTENDED_PART|g" -e "s|@ROOT_MIB@|$ROOT_MIB|g" -e "s|@DATA_MIB@|$DATA_MIB|g" \
		-e "s|@CONSOLE@|$console|g" -e "s|@CMDLINE@|$cmdline|g" -e "s|@DTB@|$dtb|g" "$1"
}

need_room() { # need_room FILE MIB
	size=$(stat -c %s "$1")
	[ "$size" -le $(($2 * 1048576)) ] || fail "${1##*/} has $((size / 1048576)) MiB, its partition $2"
}

# fat IMAGE LABEL SERIAL MIB FOLDER: a FAT with the folder's files in the order of their names
fat() {
	rm -f "$1"
	truncate -s "$4M" "$1"
	# FAT32 needs 65525 clusters, which 32 MiB have not; 16 bits with 2 KiB each.
	mkfs.vfat --invariant -F 16 -s 4 -i "$3" -n "$2" "$1" >/dev/null
	find "$5" -exec touch -h -d "@$epoch" {} +
	(
		cd "$5"
		for file in *; do
			mcopy -m -i "$1" "$file" ::
		done
	)
}

# The files of the setup partition: the chip's first stage, U-Boot or the slot chooser, and the form for the user.
setup_folder() {
	for file in $FIRMWARE; do
		cp "$binaries/rpi-firmware/$file" "$1/" || fail "the firmware file $file is missing"
	done
	cp "$common/homeagent.txt" "$1/"
	case $LOADER in
	uboot)
		[ -s "$binaries/u-boot.bin" ] || fail "u-boot.bin is missing"
		cp "$binaries/u-boot.bin" "$1/"
		cp "$boarddir/config.txt" "$1/config.txt"
		# The chip's loader hands U-Boot a device tree; mainline's go by other names.
		if [ "$mainline" = 1 ]; then
			printf '# The device trees here are those of the mainline kernel.\nupstream_kernel=1\n' >>"$1/config.txt"
		fi
		device_trees "$1"
		;;
	tryboot) render "$boarddir/autoboot.txt" >"$1/autoboot.txt" ;;
	esac
}

device_trees() { # device_trees FOLDER
	found=
	for file in $DTBS; do
		if [ -e "$binaries/$file" ]; then
			cp "$binaries/$file" "$1/"
			found=1
		fi
	done
	[ -n "$found" ] || [ -z "$DTBS" ] || fail "none of the device trees $DTBS is there"
}

# The files of slot A or B. They differ only where the board's own loader reads a command line.
slot_folder() {
	folder=$1 letter=$2 number=$3
	cp "$binaries/Image.gz" "$folder/" || fail "Image.gz is missing"
	if [ -e "$binaries/initrd.img" ]; then cp "$binaries/initrd.img" "$folder/"; fi
	device_trees "$folder"
	case $LOADER in
	uboot)
		render "$common/uboot/boot.cmd" >"$work/boot.cmd"
		mkimage -A arm64 -T script -C none -n homeagent -d "$work/boot.cmd" "$folder/boot.scr" >/dev/null
		;;
	tryboot)
		cp "$boarddir/config.txt" "$folder/config.txt"
		printf 'console=%s root=PARTUUID=%s-0%s ro rootwait homeagent.slot=%s quiet %s\n' \
			"$console" "$DISK_SIGNATURE" "$number" "$letter" "$cmdline" >"$folder/cmdline.txt"
		;;
	esac
}

environment() {
	if [ "$LOADER" = uboot ]; then
		# The built-in environment as text, then the two copies' content: with a list of writeable variables the rest is ignored.
		tr '\0' '\n' <"$binaries/u-boot-initial-env" |
			grep -E '^(slot|upgrade_available|bootcount|trial_failed)=' | sort >"$work/env.txt" || true
		for pair in bootcount=0 slot=A trial_failed=0 upgrade_available=0; do
			grep -q "^${pair%=*}=" "$work/env.txt" || echo "$pair" >>"$work/env.txt"
		done
		mkenvimage -r -s "$ENV_SIZE" -o "$work/in/env.bin" "$work/env.txt"
	else
		truncate -s "$ENV_SIZE" "$work/in/env.bin"
	fi
}

data() {
	truncate -s "${DATA_MIB}M" "$work/in/data.ext4"
	MKE2FS_CONFIG=$common/mke2fs.conf E2FSPROGS_FAKE_TIME=$epoch mke2fs -q -F -t ext4 -L "$DATA_LABEL" \
		-U 48414745-6461-7461-0000-000000000007 -J size=8 \
		-E hash_seed=48414745-6461-7461-0000-000000000008,resize=67108864,root_owner=0:0,nodiscard,lazy_itable_init=0,lazy_journal_init=0 \
		"$work/in/data.ext4"
}

compress() { # the dictionary spans root A to root B, so that slot B costs nothing in the download
	name=homeagent-$board-$version.img
	xz --threads=1 --check=crc64 --lzma2=preset=6,dict=128MiB,nice=64 -k -c "$out/$name" >"$out/$name.xz.part"
	mv "$out/$name.xz.part" "$out/$name.xz"
	(cd "$out" && sha256sum "$name.xz" >"$name.xz.sha256")
}

main() {
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM
	mkdir -p "$work/in" "$work/setup" "$work/slot-a" "$work/slot-b" "$work/root" "$out"

	# Debian's kernel comes with a first boot stage and mainline device trees; Buildroot's is Raspberry Pi's.
	cmdline=$(cat "$boarddir/cmdline.txt")
	if [ -e "$binaries/initrd.img" ]; then
		# shellcheck disable=SC2153 # from meta
		mainline=1 console=$CONSOLE dtb=$DTB
	else
		mainline=0 console=$CONSOLE_RASPBERRYPI dtb=$DTB_RASPBERRYPI
	fi

	need_room "$binaries/rootfs.squashfs" "$ROOT_MIB"
	ln -s "$binaries/rootfs.squashfs" "$work/in/rootfs.squashfs"
	setup_folder "$work/setup"
	slot_folder "$work/slot-a" A "$ROOT_A_PART"
	slot_folder "$work/slot-b" B "$ROOT_B_PART"
	fat "$work/in/setup.vfat" "$SETUP_LABEL" 48410001 "$SETUP_MIB" "$work/setup"
	fat "$work/in/slot-a.vfat" "$SLOT_A_LABEL" 48410002 "$SLOT_MIB" "$work/slot-a"
	fat "$work/in/slot-b.vfat" "$SLOT_B_LABEL" 48410003 "$SLOT_MIB" "$work/slot-b"
	environment
	data

	render "$common/genimage.cfg.in" >"$work/genimage.cfg"
	genimage --rootpath "$work/root" --tmppath "$work/tmp" --inputpath "$work/in" --outputpath "$work/out" \
		--config "$work/genimage.cfg" >"$work/genimage.log" 2>&1 || {
		cat "$work/genimage.log" >&2
		fail "genimage failed"
	}
	# Written beside its place and renamed: a half-written image never bears the name.
	cp --sparse=always "$work/out/card.img" "$out/homeagent-$board-$version.img.part"
	mv "$out/homeagent-$board-$version.img.part" "$out/homeagent-$board-$version.img"
	if [ "${HOMEAGENT_COMPRESS:-0}" = 1 ]; then compress; fi
	echo "$out/homeagent-$board-$version.img"
}

main "$@"
