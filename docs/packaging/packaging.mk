# The static program, the archive with it, and the Debian package: docs/packaging/README.md. Included by the Makefile.

MACHINE := $(shell uname -m)
ARCH    ?= $(MACHINE)
STATIC  := $(BUILD)-static-$(ARCH)
# Where sqlite3 and cJSON for it are fetched to.
STATIC_DEPS ?= $(abspath $(STATIC))/deps
CROSS     := $(if $(filter $(MACHINE),$(ARCH)),,$(ARCH)-linux-gnu-)
STATIC_CC := $(if $(CROSS),$(CROSS)gcc,$(CC))
STATIC_AR := $(if $(CROSS),$(CROSS)ar,$(AR))

BUILD32   := $(BUILD)-32
DEPS32    := $(abspath $(BUILD32))/deps

.PHONY: static check-static dist check-dist dist-source deb check-32 check-build matrix

# A warning of the linker is an error: glibc's are about what a static program would look for on the machine it runs on.
static: ## one file that runs anywhere: build-static-ARCH/spikeroot (ARCH=aarch64 or x86_64)
	@CC='$(STATIC_CC)' AR='$(STATIC_AR)' sh docs/packaging/deps.sh '$(ARCH)' '$(STATIC_DEPS)'
	@$(MAKE) --no-print-directory BUILD='$(STATIC)' CC='$(STATIC_CC)' AR='$(STATIC_AR)' SANITIZE= \
		DEP_CFLAGS='-I$(STATIC_DEPS)/include' DEP_LIBS='-L$(STATIC_DEPS) $(STATIC_DEPS)/libcjson.a $(STATIC_DEPS)/libsqlite3.a' \
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

# Static libraries and a shared cmocka of i386, fetched as those of make static are. SSE2, because the x87 unit keeps 80
# bits of a double and so gives other results. <asm/...> is that of x86_64: gcc-multilib, which would name it, can't be
# installed beside a compiler for aarch64.
check-32: ## the unit tests and the recorded runs with a program of 32 bits (x86_64; needs sh setup.sh 32)
	@CC='$(CC)' AR='$(AR)' sh docs/packaging/deps.sh i686 '$(DEPS32)'
	@$(MAKE) --no-print-directory BUILD='$(BUILD32)' SANITIZE= \
		CFLAGS='-m32 -msse2 -mfpmath=sse -Werror -idirafter /usr/include/x86_64-linux-gnu $(CFLAGS)' \
		DEP_CFLAGS='-isystem $(DEPS32)/include' DEP_LIBS='$(DEPS32)/libcjson.a $(DEPS32)/libsqlite3.a' \
		TEST_CFLAGS= TEST_LIBS='$(DEPS32)/libcmocka.so.0 -Wl,-rpath,$(DEPS32)' check-build

matrix: ## the unit tests and the recorded runs with gcc and clang, -O0 to -O3; a line for each (half an hour)
	@sh tests/matrix.sh '$(MAKE)' '$(BUILD)-matrix'

# What a compiler or its options could break. A program of 32 bits that this kernel does not run is run by qemu-user.
check-build: $(BIN) $(UNIT_BINS)
	@$(RUN) --version >/dev/null 2>&1 || export EMULATED=yes WRAP=qemu-i386-static; \
		sh tests/check.sh $(BIN) unit golden -- $(UNIT_BINS)
