################################################################################
#
# homeagent
#
################################################################################

# The source is the tree that this file is part of. Builds and downloads of the
# developer's own stay out; so does Buildroot's output, if it lies in here.
HOMEAGENT_SITE = $(realpath $(BR2_EXTERNAL_HOMEAGENT_PATH)/..)
HOMEAGENT_SITE_METHOD = local
HOMEAGENT_OVERRIDE_SRCDIR_RSYNC_EXCLUSIONS = \
	--exclude=/bin --exclude=/data --exclude=/out --exclude=/vendor

HOMEAGENT_DEPENDENCIES = host-pkgconf alsa-lib portaudio speexdsp

# The version that the programs, the release file and the image's name bear.
HOMEAGENT_RELEASE ?= $(shell git -C $(HOMEAGENT_SITE) describe --tags --always --dirty 2>/dev/null || echo dev)

HOMEAGENT_GOMOD = homeagent
HOMEAGENT_TAGS = sqlite_fts5
HOMEAGENT_LDFLAGS = -s -w -X main.version=$(HOMEAGENT_RELEASE)
HOMEAGENT_STATIC_BINS = homed homectl
HOMEAGENT_CGO_BINS = homed-agent
HOMEAGENT_BUILD_TARGETS = $(addprefix cmd/,$(HOMEAGENT_STATIC_BINS) $(HOMEAGENT_CGO_BINS))

# A local source is not vendored at download time, and Go packages build with
# -mod=vendor and no network: so it happens here. go.sum holds every module to
# its checksum. HOMEAGENT_GOPROXY: where modules come from, else Go's own default.
define HOMEAGENT_VENDOR
	cd $(@D) && $(HOST_GO_COMMON_ENV) GOFLAGS=-mod=mod GONOSUMDB='*' \
		$(if $(HOMEAGENT_GOPROXY),GOPROXY="$(HOMEAGENT_GOPROXY)",env -u GOPROXY) \
		$(GO_BIN) mod vendor
endef
HOMEAGENT_PRE_CONFIGURE_HOOKS += HOMEAGENT_VENDOR

# homed and homectl must run with every shared library gone: no cgo. The agent
# has PortAudio, speexdsp and SQLite; -fuse-ld as in Buildroot's own Go packages.
define HOMEAGENT_BUILD_CMDS
	$(foreach b,$(HOMEAGENT_STATIC_BINS),\
		cd $(@D) && $(HOST_GO_TARGET_ENV) CGO_ENABLED=0 \
			$(GO_BIN) build $(HOMEAGENT_BUILD_OPTS) -o $(@D)/bin/$(b) ./cmd/$(b)
	)
	$(foreach b,$(HOMEAGENT_CGO_BINS),\
		cd $(@D) && $(HOST_GO_TARGET_ENV) CGO_ENABLED=1 PKG_CONFIG="$(PKG_CONFIG_HOST_BINARY)" \
			$(GO_BIN) build $(HOMEAGENT_BUILD_OPTS) \
			-ldflags "$(HOMEAGENT_LDFLAGS) -extldflags '-fuse-ld=bfd'" \
			-o $(@D)/bin/$(b) ./cmd/$(b)
	)
endef

# The overlay's files name these users: the numbers are the ones it relies on.
define HOMEAGENT_USERS
	homeagent 900 homeagent 900 * /var/lib/homeagent - audio,video,gpio,i2c HomeAgent
	homeagent-door 901 homeagent-door 901 * /var/lib/homeagent - - HomeAgent door
endef

$(eval $(golang-package))
