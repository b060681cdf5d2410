# Helpers of the start scripts; sourced. busybox ash, no side effects when read.
# shellcheck shell=sh

say() { # a line for the serial console
	echo "homeagent: $*" >&2
}

# tool NAME: the path of the real program. busybox has applets named mke2fs, fsck and the like and prefers them.
tool() {
	for dir in /usr/sbin /sbin /usr/bin /bin; do
		if [ -x "$dir/$1" ]; then
			case $(readlink -f "$dir/$1") in */busybox) ;; *) echo "$dir/$1" && return 0 ;; esac
		fi
	done
	return 1
}

mounted() { # mounted DIR
	grep -q " $1 " /proc/self/mounts
}

kernel_arg() { # kernel_arg NAME: the value of NAME= on the kernel's command line, or fails; a bare NAME has none
	# shellcheck disable=SC2013 # words are what is wanted
	for word in $(cat /proc/cmdline); do
		case $word in
		"$1") echo && return 0 ;;
		"$1="*) echo "${word#*=}" && return 0 ;;
		esac
	done
	return 1
}

# wait_for TENTHS COMMAND...: until the command succeeds, no longer than that many tenths of a second
wait_for() {
	left=$1
	shift
	until "$@"; do
		[ "$left" -gt 0 ] || return 1
		left=$((left - 1))
		sleep 0.1
	done
}

gone() {
	! pidof "$1" >/dev/null
}

# stop NAME SECONDS [wait]: end a program and wait for it; with `wait` it ends by itself
stop() {
	gone "$1" && return 0
	[ "${3:-}" = wait ] || killall "$1" 2>/dev/null
	wait_for "${2}0" gone "$1" || killall -9 "$1" 2>/dev/null
	return 0
}

# whole_disk PARTITION_NAME: the kernel's name of the disk the partition lies on (mmcblk0p5 -> mmcblk0)
whole_disk() {
	path=$(readlink -f "/sys/class/block/$1")
	[ -e "$path/partition" ] || return 1
	path=${path%/*}
	echo "${path##*/}"
}

# root_block: the kernel's name of the device the root is mounted from. By number: names in /proc/mounts may be made up.
root_block() {
	while read -r _ _ number _ point _; do
		case $point:$number in
		/:0:*) ;;
		/:*) path=$(readlink -f "/sys/dev/block/$number") && echo "${path##*/}" && return 0 ;;
		esac
	done </proc/self/mountinfo
	return 1
}

part_name() { # part_name DISK NUMBER: mmcblk0 7 -> mmcblk0p7, vda 7 -> vda7
	case $1 in *[0-9]) echo "$1p$2" ;; *) echo "$1$2" ;; esac
}
