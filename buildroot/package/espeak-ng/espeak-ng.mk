################################################################################
#
# espeak-ng
#
################################################################################

# Upstream's release as Debian's archive has it, without the parts that are not free
# (+dfsg), so its checksum is not upstream's; `make buildroot-image` brings it. 1.51 of Debian 12 carries
# security fixes as patches; this release has them in its source.
ESPEAK_NG_VERSION = 1.52.0+dfsg
ESPEAK_NG_SOURCE = espeak-ng_$(ESPEAK_NG_VERSION).orig.tar.gz
ESPEAK_NG_SITE = file://$(HOMEAGENT_TARBALLS)
ESPEAK_NG_LICENSE = GPL-3.0+ (code), Apache-2.0 (getopt.c), BSD-2-Clause (getopt.c), Unicode-DFS-2015 (ucd-tools)
ESPEAK_NG_LICENSE_FILES = COPYING COPYING.APACHE COPYING.BSD2 COPYING.UCD
ESPEAK_NG_CPE_ID_VENDOR = espeak-ng
ESPEAK_NG_DEPENDENCIES = host-espeak-ng

# sonic (faster than the fastest rate) is fetched by git where it is not "found":
# it is named so that nothing is fetched, and not used.
ESPEAK_NG_COMMON_OPTS = \
	-DSONIC_LIB=none -DSONIC_INC=none -DUSE_LIBSONIC=OFF \
	-DPCAUDIO_LIB=PCAUDIO_LIB-NOTFOUND -DUSE_LIBPCAUDIO=OFF \
	-DMBROLA_BIN=MBROLA_BIN-NOTFOUND -DUSE_MBROLA=OFF \
	-DUSE_ASYNC=OFF
ESPEAK_NG_CONF_OPTS = $(ESPEAK_NG_COMMON_OPTS)
HOST_ESPEAK_NG_CONF_OPTS = $(ESPEAK_NG_COMMON_OPTS)

# The dictionaries are compiled by the program itself: the computer's own
# compiles them (both have the same byte order), the box's is only built.
ESPEAK_NG_BUILD_OPTS = --target espeak-ng-bin

define ESPEAK_NG_INSTALL_TARGET_CMDS
	$(INSTALL) -D -m 0755 $(@D)/src/espeak-ng $(TARGET_DIR)/usr/bin/espeak-ng
	$(INSTALL) -d $(TARGET_DIR)/usr/lib $(TARGET_DIR)/usr/share
	cp -dpf $(@D)/src/libespeak-ng/libespeak-ng.so* $(TARGET_DIR)/usr/lib/
	cp -dRpf $(HOST_DIR)/share/espeak-ng-data $(TARGET_DIR)/usr/share/
endef

$(eval $(cmake-package))
$(eval $(host-cmake-package))
