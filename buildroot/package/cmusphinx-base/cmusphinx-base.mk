################################################################################
#
# cmusphinx-base
#
################################################################################

# Upstream's 5prealpha as Debian 12 builds it and as the tests run it. Upstream's own
# download page names no checksum to compare with, so the tarball is that of Debian's
# archive: `make buildroot-image` brings it from the mirror of the computer's apt.
CMUSPHINX_BASE_VERSION = 0.8+5prealpha+1
CMUSPHINX_BASE_SOURCE = sphinxbase_$(CMUSPHINX_BASE_VERSION).orig.tar.gz
CMUSPHINX_BASE_SITE = file://$(HOMEAGENT_TARBALLS)
CMUSPHINX_BASE_LICENSE = BSD-2-Clause
CMUSPHINX_BASE_LICENSE_FILES = LICENSE
CMUSPHINX_BASE_INSTALL_STAGING = YES
CMUSPHINX_BASE_DEPENDENCIES = host-bison host-pkgconf
# Matrix algebra serves training only; sound goes through HomeAgent itself.
CMUSPHINX_BASE_CONF_OPTS = --without-lapack --without-python
CMUSPHINX_BASE_CONF_ENV = \
	ac_cv_header_pulse_pulseaudio_h=no \
	ac_cv_header_alsa_asoundlib_h=no

$(eval $(autotools-package))
