################################################################################
#
# onnxruntime
#
################################################################################

# Keep the version and the library's sha256 like tools/models/models.lock.json:
# it is the same library, so that the box runs what the tests ran on. Its makers'
# own releases hold another build of it, with no checksum to compare; hence
# the folder of models for the box that `make buildroot-image` lays down.
ONNXRUNTIME_VERSION = 1.30.0
ONNXRUNTIME_SITE = $(HOMEAGENT_TARBALLS)/models/onnxruntime
ONNXRUNTIME_SITE_METHOD = local
ONNXRUNTIME_LICENSE = MIT
ONNXRUNTIME_LICENSE_FILES = LICENSE ThirdPartyNotices.txt notices-since

ONNXRUNTIME_LIBRARY = libonnxruntime.so.1
ONNXRUNTIME_LIBRARY_SHA256 = 1f549d46250b005580b597f4164984aaf75b3bcb9f3aeb07c7f8a8fe60b23c76

# The licence and the notices of the library's parts lie with the texts that the box carries.
ONNXRUNTIME_TEXTS = $(BR2_EXTERNAL_HOMEAGENT_PATH)/../overlay/usr/share/homeagent/licences/models
define ONNXRUNTIME_TAKE_LICENSE
	cp $(ONNXRUNTIME_TEXTS)/onnxruntime $(@D)/LICENSE
	cp $(ONNXRUNTIME_TEXTS)/onnxruntime-third-party $(@D)/ThirdPartyNotices.txt
	cp $(ONNXRUNTIME_TEXTS)/onnxruntime-since $(@D)/notices-since
endef
ONNXRUNTIME_POST_RSYNC_HOOKS += ONNXRUNTIME_TAKE_LICENSE

define ONNXRUNTIME_BUILD_CMDS
	cd $(@D) && echo "$(ONNXRUNTIME_LIBRARY_SHA256)  $(ONNXRUNTIME_LIBRARY)" | sha256sum -c -
endef

# Where homed-agent looks: beside the models.
define ONNXRUNTIME_INSTALL_TARGET_CMDS
	$(INSTALL) -D -m 0755 $(@D)/$(ONNXRUNTIME_LIBRARY) \
		$(TARGET_DIR)/usr/share/homeagent/models/onnxruntime/libonnxruntime.so.1
endef

$(eval $(generic-package))
