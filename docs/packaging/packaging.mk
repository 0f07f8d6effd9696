# The static program, the archive with it, and the Debian package: docs/packaging/README.md. Included by the Makefile.

MACHINE := $(shell uname -m)
ARCH    ?= $(MACHINE)
STATIC  := $(BUILD)-static-$(ARCH)
# Where sqlite3 and cJSON for it are fetched to.
STATIC_DEPS ?= $(abspath $(STATIC))/deps
CROSS     := $(if $(filter $(MACHINE),$(ARCH)),,$(subst _,-,$(ARCH))-linux-gnu-)
STATIC_CC := $(if $(CROSS),$(CROSS)gcc,$(CC))
STATIC_AR := $(if $(CROSS),$(CROSS)ar,$(AR))

.PHONY: static check-static dist check-dist dist-source deb

# A warning of the linker is an error: glibc's are about what a static program would look for on the machine it runs on.
static: ## one file that runs anywhere: build-static-ARCH/spikeroot (ARCH=aarch64 or x86_64)
	@CC='$(STATIC_CC)' AR='$(STATIC_AR)' sh docs/packaging/deps.sh '$(ARCH)' '$(STATIC_DEPS)'
	@$(MAKE) --no-print-directory BUILD='$(STATIC)' CC='$(STATIC_CC)' AR='$(STATIC_AR)' SANITIZE= \
		DEP_CFLAGS='-I$(STATIC_DEPS)/include' DEP_LIBS='$(STATIC_DEPS)/libcjson.a $(STATIC_DEPS)/libsqlite3.a' \
		HARDEN='$(HARDEN) -ffile-prefix-map=$(CURDIR)=. -ffile-prefix-map=$(STATIC_DEPS)=deps' \
		LDHARDEN='-static-pie -Wl,-z,relro,-z,now,--wrap=dlopen,--fatal-warnings' \
		MAIN_OBJ='$(STATIC)/src/main.o $(STATIC)/src/static_dlopen.o' '$(STATIC)/spikeroot'

check-static: $(BIN) static ## the static program needs nothing, passes the tests, and gives the bytes of the other one
	@sh tests/static/check.sh '$(STATIC)/spikeroot' '$(ARCH)' $(RUN)

dist: ## spikeroot-VERSION-linux-ARCH.tar.gz of the last commit, with the static program
	@sh docs/packaging/dist.sh '$(ARCH)' '$(BUILD)-dist-$(ARCH)' '$(STATIC_DEPS)' '$(MAKE)'

check-dist: ## two clones give the same archive, and what is in it works
	@sh tests/static/dist.sh '$(ARCH)' '$(MAKE)'

dist-source: ## spikeroot-VERSION.tar.gz: the sources of the last commit
	git archive --format=tar.gz --prefix=spikeroot-$(VERSION)/ -o spikeroot-$(VERSION).tar.gz HEAD

deb: ## build-deb/spikeroot_VERSION_ARCH.deb of the last commit, looked at by lintian, installed and tried
	@sh tests/static/deb.sh '$(BUILD)-deb'
