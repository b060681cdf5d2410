# Board files and root file system are shared with the assembler of tools/image;
# they lie beside this tree, one folder up.
HOMEAGENT_BOARD_COMMON = $(BR2_EXTERNAL_HOMEAGENT_PATH)/../board/common

# Tarballs that only Debian's archive keeps, and the models for the box:
# `make buildroot-image` lays them there, each held to a checksum.
HOMEAGENT_TARBALLS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/homeagent/tarballs

include $(sort $(wildcard $(BR2_EXTERNAL_HOMEAGENT_PATH)/package/*/*.mk))

# What the post-build and post-image scripts are told. A package's version is a
# make variable of the very name that the scripts read, and a local package's is
# always "custom": hence a name of its own here, and the right one for them.
EXTRA_ENV += \
	HOMEAGENT_VERSION="$(HOMEAGENT_RELEASE)" \
	HOMEAGENT_SOURCE=buildroot

# U-Boot: the compiled-in environment, and the list of variables that the card
# may set, are put into its source by the script that the assembler uses too.
define HOMEAGENT_UBOOT_PREPARE
	$(HOMEAGENT_BOARD_COMMON)/uboot/prepare $(@D)
endef
UBOOT_POST_PATCH_HOOKS += HOMEAGENT_UBOOT_PREPARE

# The built-in environment as text, from which post-image.sh makes the card's two copies.
define HOMEAGENT_UBOOT_INITIAL_ENV
	$(INSTALL) -D -m 0644 $(@D)/u-boot-initial-env $(BINARIES_DIR)/u-boot-initial-env
endef
UBOOT_POST_INSTALL_IMAGES_HOOKS += HOMEAGENT_UBOOT_INITIAL_ENV
