# A slot's boot script, rendered by post-image.sh. From the environment: try is the slot's letter, bp and rp the
# numbers of its FAT and of its root.
# It returns when anything is missing; the environment then tries the other slot.

setexpr dtb sub ".*/" "" ${fdtfile}
if test -e mmc 0:${bp} ${dtb}; then true; else setenv dtb @DTB@; fi

# kernel-args.txt on the setup partition: one line `extra=...`, for the emulator and for people who measure.
setenv extra
if test -e mmc 0:@SETUP_PART@ kernel-args.txt; then
	load mmc 0:@SETUP_PART@ ${pxefile_addr_r} kernel-args.txt && env import -t ${pxefile_addr_r} ${filesize} extra
fi

setenv bootargs "console=@CONSOLE@ root=PARTUUID=@DISK_SIGNATURE@-0${rp} ro rootwait homeagent.slot=${try} quiet @CMDLINE@ ${extra}"
if load mmc 0:${bp} ${fdt_addr_r} ${dtb} && load mmc 0:${bp} ${kernel_addr_r} Image.gz; then
	if test -e mmc 0:${bp} initrd.img; then
		load mmc 0:${bp} ${ramdisk_addr_r} initrd.img && booti ${kernel_addr_r} ${ramdisk_addr_r}:${filesize} ${fdt_addr_r}
	else
		booti ${kernel_addr_r} - ${fdt_addr_r}
	fi
fi
