# Faults: the library that makes calls fail, and what is tested with it. See docs/TESTING.md.

FAULT_DIR  := $(BUILD)/tests/fault
FAULT_BINS := $(FAULT_DIR)/fault.so $(FAULT_DIR)/kill

.PHONY: oom kill outputs

# Not with a sanitizer's flags: it is loaded into a program that may have none.
$(FAULT_DIR)/fault.so: $(sort $(wildcard tests/fault/fault*.[ch] tests/fault/fork.c)) $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,TEST,$@)
	$(Q)$(CC) -std=c11 -O2 -g $(WARN) $(CPPFLAGS) $(CFLAGS) -fPIC -shared -pthread $(filter %.c,$^) $(LDFLAGS) -ldl -o $@

$(FAULT_DIR)/kill: tests/fault/kill.c $(LIB) $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,TEST,$@)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $< $(LIB) $(ALL_LDFLAGS) $(ALL_LDLIBS) -o $@

oom: $(BIN) $(FAULT_BINS) ## every allocation of the command-line tests fails once
	@sh tests/fault/oom.sh $(BIN) $(FAULT_DIR)/fault.so; rc=$$?; \
		sh tests/fault/oom-threads.sh $(BIN) $(FAULT_DIR)/fault.so && exit $$rc

outputs: $(BIN) $(FAULT_BINS) ## every call on files fails once in every way, with signals around it
	@sh tests/fault/outputs.sh --all $(BIN) $(FAULT_DIR)/fault.so

kill: $(FAULT_BINS) ## SIGKILL at 200 random moments of a write loop
	@d=$$(mktemp -d) && $(FAULT_DIR)/kill $$d/out 200 $$$$; rc=$$?; rm -rf $$d; exit $$rc
