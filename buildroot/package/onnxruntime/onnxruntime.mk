################################################################################
#
# onnxruntime
#
################################################################################

# Keep the version and the library's sha256 like tools/models/models.lock.json:
# it is the same package, so that the box runs what the tests ran on.
ONNXRUNTIME_VERSION = 1.30.0
ONNXRUNTIME_SOURCE = onnxruntime-node-$(ONNXRUNTIME_VERSION).tgz
ONNXRUNTIME_SITE = https://registry.npmjs.org/onnxruntime-node/-
ONNXRUNTIME_LICENSE = MIT
ONNXRUNTIME_LICENSE_FILES = README.md

ONNXRUNTIME_LIBRARY = bin/napi-v6/linux/arm64/libonnxruntime.so.1
ONNXRUNTIME_LIBRARY_SHA256 = 1f549d46250b005580b597f4164984aaf75b3bcb9f3aeb07c7f8a8fe60b23c76

# Of the 290 MB only one library is wanted.
define ONNXRUNTIME_EXTRACT_CMDS
	$(TAR) -C $(@D) --strip-components=1 -xzf $(ONNXRUNTIME_DL_DIR)/$(ONNXRUNTIME_SOURCE) \
		package/README.md package/$(ONNXRUNTIME_LIBRARY)
	cd $(@D) && echo "$(ONNXRUNTIME_LIBRARY_SHA256)  $(ONNXRUNTIME_LIBRARY)" | sha256sum -c -
endef

# Where homed-agent looks: beside the models.
define ONNXRUNTIME_INSTALL_TARGET_CMDS
	$(INSTALL) -D -m 0755 $(@D)/$(ONNXRUNTIME_LIBRARY) \
		$(TARGET_DIR)/usr/share/homeagent/models/onnxruntime/libonnxruntime.so.1
endef

$(eval $(generic-package))
