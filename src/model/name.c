/* Parameter names: what a wrapper adds is not part of the parameter. */
#include <string.h>

#include "spikeroot/dataset.h"

static size_t prefix_digits(const char *s, size_t len) {
    size_t n = 0;
    while (n < len && n < 6 && s[n] >= '0' && s[n] <= '9') n++;
    return n;
}

size_t sr_name_normalise(const char *name, size_t len, char *out, size_t cap, int32_t *vpp_prefix) {
    static const char *const wrapper[] = {"_fsdp_wrapped_module.", "_orig_mod.", "_checkpoint_wrapped_module."};
    size_t n = 0, i = prefix_digits(name, len);
    *vpp_prefix = SR_NO_VPP;
    if (i > 0 && i < len && name[i] == ':') {
        *vpp_prefix = 0;
        for (size_t k = 0; k < i; k++) *vpp_prefix = *vpp_prefix * 10 + (name[k] - '0');
        i++;
    } else {
        i = 0;
    }
    while (i < len && n + 1 < cap) {
        if (name[i] == '_' && (i == 0 || name[i - 1] == '.' || name[i - 1] == ':')) {
            size_t skip = 0;
            for (size_t w = 0; w < sizeof wrapper / sizeof *wrapper; w++) {
                size_t k = strlen(wrapper[w]);
                if (len - i >= k && memcmp(name + i, wrapper[w], k) == 0) skip = k;
            }
            if (skip > 0) {
                i += skip;
                continue;
            }
        }
        out[n++] = name[i++];
    }
    out[n] = '\0';
    return n;
}
