# The card's partition table, read straight from the card and mended with sfdisk; sourced by `data` and by its tests, which
# use plain files. busybox's fdisk would move the logical partitions' tables, so it is never used.
# shellcheck shell=sh

table_word() { # table_word DISK OFFSET: four bytes, the lowest first
	dd if="$1" bs=1 skip="$2" count=4 2>/dev/null | od -An -tu4 | tr -d ' \n'
}

# table_read DISK: ext_start ext_size data_start data_size last_end (of the logical partition before data), in sectors;
# 0 where there is none. It follows the chain of logical partitions: the first is number 5.
# shellcheck disable=SC2034 # read by the callers
table_read() {
	ext_start=0 ext_size=0 data_start=0 data_size=0 last_end=0
	entry=$((446 + 16 * (EXTENDED_PART - 1)))
	kind=$(dd if="$1" bs=1 skip=$((entry + 4)) count=1 2>/dev/null | od -An -tx1 | tr -d ' \n')
	case $kind in 05 | 0f | 85) ;; *) return 1 ;; esac
	ext_start=$(table_word "$1" $((entry + 8)))
	ext_size=$(table_word "$1" $((entry + 12)))
	at=$ext_start number=5
	while [ "$number" -le "$DATA_PART" ]; do
		offset=$(table_word "$1" $((at * 512 + 454)))
		size=$(table_word "$1" $((at * 512 + 458)))
		next=$(table_word "$1" $((at * 512 + 470)))
		[ -n "$size" ] || return 1
		if [ "$number" -eq "$DATA_PART" ]; then
			data_start=$((at + offset)) data_size=$size
			[ "$size" -gt 0 ] || data_start=0
		elif [ "$size" -gt 0 ]; then
			last_end=$((at + offset + size))
		fi
		[ "$next" -gt 0 ] || break
		at=$((ext_start + next))
		number=$((number + 1))
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
