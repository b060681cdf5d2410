# The card's partition table, read straight from the card and mended with sfdisk; sourced by `data` and by its tests, which
# use plain files. busybox's fdisk would move the logical partitions' tables, so it is never used.
# shellcheck shell=sh

# table_sector DISK SECTOR: sets entries to the bytes of its four entries and the signature. One read a sector and the sums
# in the shell: on an emulated Pi each process started costs more than the reading.
table_sector() {
	# shellcheck disable=SC2046 # 66 words are what is wanted
	set -- $(dd if="$1" bs=512 skip="$2" count=1 2>/dev/null | od -An -v -tu1 -j 446 -N 66 2>/dev/null)
	[ $# -eq 66 ] || return 1
	entries=$*
}

# table_entry INDEX: entry_kind entry_start entry_size of the entry 1 to 4 of the sector read last
table_entry() {
	index=$1
	# shellcheck disable=SC2086 # words
	set -- $entries
	shift $((16 * (index - 1) + 4))
	entry_kind=$1
	shift 4
	entry_start=$(($1 | $2 << 8 | $3 << 16 | $4 << 24))
	entry_size=$(($5 | $6 << 8 | $7 << 16 | $8 << 24))
}

# table_read DISK: ext_start ext_size data_start data_size last_end (of the logical partition before data), in sectors;
# 0 where there is none. It follows the chain of logical partitions: the first is number 5.
# shellcheck disable=SC2034 # read by the callers
table_read() {
	ext_start=0 ext_size=0 data_start=0 data_size=0 last_end=0
	table_sector "$1" 0 || return 1
	table_entry "$EXTENDED_PART"
	case $entry_kind in 5 | 15 | 133) ;; *) return 1 ;; esac
	ext_start=$entry_start ext_size=$entry_size at=$entry_start number=5
	while [ "$number" -le "$DATA_PART" ]; do
		table_sector "$1" "$at" || return 1
		table_entry 1
		if [ "$entry_size" -gt 0 ] && [ "$number" -eq "$DATA_PART" ]; then
			data_start=$((at + entry_start)) data_size=$entry_size
		elif [ "$entry_size" -gt 0 ]; then
			last_end=$((at + entry_start + entry_size))
		fi
		table_entry 2
		[ "$entry_start" -gt 0 ] || break
		at=$((ext_start + entry_start)) number=$((number + 1))
	done
}

# table_wants DISK SECTORS: what the table lacks, one word: `grow` (room behind, or the extended entry lags behind its logical
# one after a cut between two writes), `data` (no data partition, but room for one), `none` (nothing to do), `broken`
# (no data partition and nothing to be done about it)
table_wants() {
	table_read "$1" || { echo broken; return; }
	ext_end=$((ext_start + ext_size)) data_end=$((data_start + data_size))
	# Less than 4 MiB at the end is left as it is: alignment, and the odd sectors of a card.
	if [ "$data_size" -eq 0 ]; then
		# 16 MiB hold a file system worth having.
		if [ "$last_end" -gt 0 ] && [ $(($2 - last_end)) -ge 32768 ]; then echo data; else echo broken; fi
	elif [ $(($2 - data_end)) -gt 8192 ] || [ $(($2 - ext_end)) -gt 8192 ] || [ "$data_end" -gt "$ext_end" ]; then
		echo grow
	else
		echo none
	fi
}

# table_edit SFDISK DISK ARGUMENTS...: one line of sfdisk's script from standard input, written to the card at once; the
# kernel is told later, since it would refuse a table in use
table_edit() {
	program=$1 disk=$2
	shift 2
	"$program" -q --no-reread --no-tell-kernel --force "$@" "$disk" >/dev/null 2>&1
	status=$?
	sync
	return "$status"
}

# table_mend SFDISK DISK WANTED: each step leaves a table that can be read, and running it again finishes the work: first the
# extended partition reaches the end, then what lies in it.
table_mend() {
	echo ',+' | table_edit "$1" "$2" -N "$EXTENDED_PART" || return 1
	case $3 in
	grow) echo ',+' | table_edit "$1" "$2" -N "$DATA_PART" ;;
	data) echo ',+,83' | table_edit "$1" "$2" --append ;;
	esac
}
