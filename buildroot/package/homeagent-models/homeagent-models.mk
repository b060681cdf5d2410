################################################################################
#
# homeagent-models
#
################################################################################

# The folder that `make setup` fills: it fetches what tools/models/models.lock.json
# lists and holds every file to its sha256 there; the wake word's files are made on
# the spot. `make buildroot-image` checks the folder against that list first. The
# ONNX Runtime in it is the build computer's: the box gets package onnxruntime's.
HOMEAGENT_MODELS_SITE = $(or $(HOMEAGENT_MODELS),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/homeagent/models)
HOMEAGENT_MODELS_SITE_METHOD = local
HOMEAGENT_MODELS_LICENSE = MIT (moonshine, silero), Apache-2.0 (wake)
HOMEAGENT_MODELS_LICENSE_FILES = moonshine/LICENSE
HOMEAGENT_MODELS_OVERRIDE_SRCDIR_RSYNC_EXCLUSIONS = --exclude=/onnxruntime --exclude=/.lock

HOMEAGENT_MODELS_FILES = \
	moonshine/LICENSE \
	moonshine/decoder_model_merged.onnx \
	moonshine/encoder_model.onnx \
	moonshine/tokenizer.json \
	silero/silero_vad_v6.onnx \
	wake/bank.bin \
	wake/bank.txt \
	wake/embedding.bin \
	wake/mel.bin

define HOMEAGENT_MODELS_INSTALL_TARGET_CMDS
	$(foreach f,$(HOMEAGENT_MODELS_FILES),\
		$(INSTALL) -D -m 0644 $(@D)/$(f) $(TARGET_DIR)/usr/share/homeagent/models/$(f)
	)
endef

$(eval $(generic-package))
