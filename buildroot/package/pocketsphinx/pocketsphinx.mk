################################################################################
#
# pocketsphinx
#
################################################################################

# The tarball of Debian's archive, as for cmusphinx-base; the model of its package
# pocketsphinx-en-us is part of the same tarball.
POCKETSPHINX_VERSION = 0.8+5prealpha+1
POCKETSPHINX_SOURCE = pocketsphinx_$(POCKETSPHINX_VERSION).orig.tar.gz
POCKETSPHINX_SITE = file://$(HOMEAGENT_TARBALLS)
POCKETSPHINX_LICENSE = BSD-2-Clause
POCKETSPHINX_LICENSE_FILES = LICENSE
POCKETSPHINX_DEPENDENCIES = host-pkgconf cmusphinx-base
POCKETSPHINX_CONF_OPTS = --without-python --with-sphinxbase=auto

# Commands come from a closed grammar: the two free-speech language models, 29 MB,
# are of no use here.
define POCKETSPHINX_DROP_LANGUAGE_MODELS
	rm -f $(TARGET_DIR)/usr/share/pocketsphinx/model/en-us/*.lm.bin
endef
POCKETSPHINX_POST_INSTALL_TARGET_HOOKS += POCKETSPHINX_DROP_LANGUAGE_MODELS

$(eval $(autotools-package))
