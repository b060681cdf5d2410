#!/bin/sh
# post-build.sh TARGET_DIR BOARD: the last touches to the root file system before it is packed, the same for Buildroot and
# for the assembler: mount points, links to what may change, the release file, modes. Running it twice changes nothing.
# Environment: HOMEAGENT_VERSION, SOURCE_DATE_EPOCH, HOMEAGENT_SOURCE (debian, buildroot; default: buildroot).
set -eu

target=${1:?usage: post-build.sh TARGET_DIR BOARD}
board=${2:?usage: post-build.sh TARGET_DIR BOARD}
common=$(cd "$(dirname "$0")" && pwd)

link() { # link TO NAME: NAME in the target becomes a link, whatever was there
	rm -rf "${target:?}/$2"
	mkdir -p "$(dirname "$target/$2")"
	ln -s "$1" "$target/$2"
}

main() {
	[ -d "$common/../$board" ] || { echo "post-build.sh: no board $board" >&2; exit 1; }

	# The root is read-only: every place that is mounted on must exist.
	for dir in proc sys dev run tmp data setup root mnt var/lib etc/homeagent usr/lib/homeagent; do
		mkdir -p "$target/$dir"
	done
	find "$target" -name .empty -type f -delete

	# What changes lives on data or in memory.
	link /data/homeagent var/lib/homeagent
	link /run var/run
	link /run/lock var/lock
	link /run/log var/log
	link /tmp var/tmp
	link /run/resolv.conf etc/resolv.conf
	link /run/localtime etc/localtime
	link /data/system/timezone etc/timezone
	link /data/system/hostname etc/hostname
	link /run/hosts etc/hosts
	link /proc/self/mounts etc/mtab
	link /run/dropbear etc/dropbear
	# The keys of whoever may log in; none, no SSH.
	link /data/system/ssh root/.ssh

	# busybox's modprobe, for the kernel's own requests too: the one of kmod drags megabytes of libraries from a slow card.
	link /bin/busybox usr/lib/homeagent/modprobe

	install -m 0644 "$common/layout.env" "$target/usr/lib/homeagent/layout.env"
	install -m 0644 "$common/mke2fs.conf" "$target/etc/mke2fs.conf"
	# A setup partition that is empty gets its form back from here.
	install -m 0644 "$common/homeagent.txt" "$target/usr/lib/homeagent/homeagent.txt"
	fw_env_config >"$target/etc/fw_env.config"
	release >"$target/etc/homeagent/release"

	chmod 0755 "$target"/etc/init.d/rc? "$target"/etc/init.d/S??*
	find "$target/usr/lib/homeagent" -type f ! -name '*.env' ! -name '*.txt' ! -name '*.sh' -exec chmod 0755 {} +
	chmod 0755 "$target/usr/share/udhcpc/default.script"
	chmod 0600 "$target/etc/shadow"
	chmod 0644 "$target/etc/passwd" "$target/etc/group"
	chmod 0700 "$target/root"
	# Buildroot's own start scripts have no place here: the overlay brings every one.
	for script in "$target"/etc/init.d/*; do
		[ -e "$common/../../overlay/etc/init.d/${script##*/}" ] || rm -f "$script"
	done
}

# The environment's two places for fw_setenv; /dev/homeagent/disk is a link made at boot.
fw_env_config() {
	# shellcheck source=layout.env
	. "$common/layout.env"
	printf '# U-Boot environment: device, offset, size\n/dev/homeagent/disk 0x%x 0x%x\n/dev/homeagent/disk 0x%x 0x%x\n' \
		"$ENV_OFFSET_1" "$ENV_SIZE" "$ENV_OFFSET_2" "$ENV_SIZE"
}

release() {
	printf 'BOARD=%s\nVERSION=%s\nBUILD_EPOCH=%s\nSOURCE=%s\n' \
		"$board" "${HOMEAGENT_VERSION:-dev}" "${SOURCE_DATE_EPOCH:-$(date +%s)}" "${HOMEAGENT_SOURCE:-buildroot}"
}

main "$@"
