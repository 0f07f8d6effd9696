/* JSON from strangers, and inputs that are no files. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "spikeroot/infile.h"
#include "spikeroot/json.h"

static void bad_json_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t len;
        const char *why;
    } bad[] = {{"", 0, "byte 0: the file is empty"},
               {" \r\n\t ", 5, "byte 5: the file is empty"},
               {"\xef\xbb\xbf", 3, "byte 3: the file is empty"},
               {"{\"a\": [1, 2", 11, "byte 11: cut off here"},
               {"{\"a\": \"b\\\"", 10, "byte 10: cut off here"},
               {"{\"a\": 1} {}", 11, "something follows the JSON document near byte 9"},
               {"{\"a\": 1}}", 9, "something follows the JSON document near byte 8"},
               {"{\"a\": 1}\0", 9, "byte 8: NUL byte"},
               {"\xff\xfe{\0}\0", 6, "byte 3: NUL byte in JSON text; if it is UTF-16, convert it to UTF-8"},
               {"{\"a\": \"\\u0000\"}", 15, "byte 7: a string holds a NUL character"},
               {"{\"a\": \"\\uD800\"}", 15, "byte 7: half of a surrogate pair"},
               {"{\"a\": \"\\udc00\"}", 15, "byte 7: half of a surrogate pair"},
               {"[\"\\ud83d\\ud83d\"]", 16, "byte 2: half of a surrogate pair"},
               {"{\"a\": 1, \"b\": {}, \"a\": 1}", 25, "the key \"a\" stands twice in one object"},
               {"[{}, {\"b\": {\"c\": 1, \"\\u0063\": 2}}]", 34, "the key \"c\" stands twice in one object"},
               {"{a: 1}", 6, "not valid JSON"},
               {"[\"\\q\"]", 6, "not valid JSON"},
               {"[1,]", 4, "not valid JSON"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cJSON *root = NULL;
        sr_err err;
        assert_int_equal(sr_json_parse(bad[i].text, bad[i].len, "x.json", &root, &err), SR_EINPUT);
        assert_null(root);
        assert_memory_equal(err.text, "x.json: ", 8);
        if (strstr(err.text, bad[i].why) == NULL) fail_msg("%s", err.text);
    }
}

/* Objects too large for a comparison of each key with each. */
static void repeated_keys_of_large_objects(void **state) {
    (void)state;
    cJSON *root = NULL;
    for (int last = 4999; last >= 4998; last--) {
        sr_str text = {0};
        sr_err err = {0};
        for (int i = 0; i < 5000; i++) sr_str_addf(&text, "%c\"key%d\": 0", i > 0 ? ',' : '{', i < 4999 ? i : last);
        sr_str_addc(&text, '}');
        assert_int_equal(sr_json_parse(text.s, text.len, "x", &root, &err), last == 4999 ? SR_OK : SR_EINPUT);
        if (last < 4999) assert_non_null(strstr(err.text, "the key \"key4998\" stands twice"));
        cJSON_Delete(root);
        sr_str_fini(&text);
    }
}

/* The limit is the one that the message names, and no depth overflows the stack. */
static void nested_json(void **state) {
    (void)state;
    static const size_t depths[] = {SR_JSON_MAX_DEPTH, SR_JSON_MAX_DEPTH + 1, 100000};
    for (size_t i = 0; i < 3; i++) {
        size_t n = depths[i];
        char *deep = malloc(2 * n);
        cJSON *root = NULL;
        sr_err err = {0};
        assert_non_null(deep);
        memset(deep, '[', n);
        memset(deep + n, ']', n);
        assert_int_equal(sr_json_parse(deep, 2 * n, "x", &root, &err), i == 0 ? SR_OK : SR_EINPUT);
        if (i > 0)
            assert_string_equal(err.text, "x: byte 1000: nested deeper than the limit of 1000 brackets; no result "
                                          "of spikeroot is");
        cJSON_Delete(root);
        free(deep);
    }
}

static void odd_values_of_json(void **state) {
    (void)state;
    static const char digits[] = "1000000000";
    sr_str text = {0};
    sr_err err;
    cJSON *root = NULL;
    double v;
    const double tenth = 0.10000000001000000000100000000010000000001;
    sr_str_add(&text, "\xef\xbb\xbf{\r\"n\":\r[1e999,-1e999,-0,0.");
    for (int i = 0; i < 100; i++) sr_str_add(&text, digits);
    sr_str_addc(&text, ',');
    for (int i = 0; i < 100; i++) sr_str_add(&text, digits);
    sr_str_add(&text, "],\"u\":\"\\ud83d\\ude00\",\"raw\":\"\xff\xed\xa0\x80\"}\r");
    if (sr_json_parse(text.s, text.len, "x", &root, &err) != SR_OK) fail_msg("%s", err.text);
    const cJSON *n = cJSON_GetObjectItemCaseSensitive(root, "n");
    assert_true(sr_json_get_num(cJSON_GetArrayItem(n, 0), &v) && isinf(v) && v > 0);
    assert_true(sr_json_get_num(cJSON_GetArrayItem(n, 1), &v) && isinf(v) && v < 0);
    assert_true(sr_json_get_num(cJSON_GetArrayItem(n, 2), &v) && v == 0.0);
    assert_true(sr_json_get_num(cJSON_GetArrayItem(n, 3), &v) && memcmp(&v, &tenth, sizeof v) == 0);
    assert_true(sr_json_get_num(cJSON_GetArrayItem(n, 4), &v) && isinf(v)); /* 1000 digits are beyond double */
    assert_string_equal(sr_json_get_str(cJSON_GetObjectItemCaseSensitive(root, "u")), "\xf0\x9f\x98\x80");
    assert_string_equal(sr_json_get_str(cJSON_GetObjectItemCaseSensitive(root, "raw")), "\xff\xed\xa0\x80");
    cJSON_Delete(root);
    sr_str_fini(&text);
}

/* A string as long as fits is no reason to fail, or to take long. */
static void long_strings_of_json(void **state) {
    (void)state;
    size_t n = (getenv("SPIKEROOT_SLOW") != NULL ? 100u : 10u) * 1000 * 1000;
    char *text = malloc(n + 8);
    cJSON *root = NULL;
    assert_non_null(text);
    memset(text, 'x', n + 8);
    memcpy(text, "[\"", 2);
    memcpy(text + n + 2, "\"]", 2);
    assert_int_equal(sr_json_parse(text, n + 4, "x", &root, NULL), SR_OK);
    assert_int_equal(strlen(sr_json_get_str(cJSON_GetArrayItem(root, 0))), n);
    cJSON_Delete(root);
    free(text);
}

/* ---- input files ---- */

static char dir[] = "/tmp/spikeroot-util-XXXXXX";

static void *write_late(void *path) {
    static const char text[] = "[1, 2]";
    int fd = open(path, O_WRONLY);
    const struct timespec wait = {0, 20 * 1000 * 1000};
    for (size_t i = 0; fd >= 0 && i < sizeof text - 1; i += 3) {
        (void)nanosleep(&wait, NULL); /* the reader has to wait for a writer that is slow */
        if (write(fd, text + i, 3) != 3) break;
    }
    if (fd >= 0) (void)close(fd);
    return NULL;
}

/* A FIFO that nobody writes to is an error at once; one with a writer is read to its end. */
static void inputs_that_are_no_files(void **state) {
    (void)state;
    char fifo[128];
    cJSON *root = NULL;
    sr_err err;
    pthread_t writer;
    (void)snprintf(fifo, sizeof fifo, "%s/fifo", dir);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(sr_json_read_file(fifo, 0, &root, &err), SR_EINPUT);
    assert_non_null(strstr(err.text, "fifo: nobody writes to this pipe"));
    int hold = open(fifo, O_RDONLY | O_NONBLOCK); /* so that the writer's open does not wait for ours */
    assert_true(hold >= 0);
    assert_int_equal(pthread_create(&writer, NULL, write_late, fifo), 0);
    const struct timespec wait = {0, 1000 * 1000};
    struct pollfd ready = {.fd = hold, .events = POLLIN};
    while (poll(&ready, 1, 10000) < 0) (void)nanosleep(&wait, NULL);
    assert_int_equal(sr_json_read_file(fifo, 0, &root, &err), SR_OK);
    assert_int_equal(pthread_join(writer, NULL), 0);
    (void)close(hold);
    assert_int_equal(cJSON_GetArraySize(root), 2);
    cJSON_Delete(root);
    char sock[128];
    (void)snprintf(sock, sizeof sock, "%s/sock", dir);
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    (void)snprintf(at.sun_path, sizeof at.sun_path, "%.100s", sock);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(s >= 0);
    assert_int_equal(bind(s, (const struct sockaddr *)&at, sizeof at), 0);
    const char *const bad[] = {"/dev/null", "/dev/zero", "/", sock};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(sr_json_read_file(bad[i], 0, &root, &err), SR_EINPUT);
        assert_non_null(strstr(err.text, ": is a directory, device or socket, not a file; name a file"));
        errno = 0;
        assert_int_equal(sr_infile_open(bad[i]), -1);
        assert_int_equal(errno, EINVAL);
    }
    (void)close(s);
    assert_int_equal(unlink(sock), 0);
    errno = 0;
    assert_int_equal(sr_infile_open(fifo), -1);
    assert_int_equal(errno, EINVAL);
}

static void inputs_have_a_limit(void **state) {
    (void)state;
    char path[128];
    cJSON *root = NULL;
    sr_err err;
    (void)snprintf(path, sizeof path, "%s/out", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs("[1, 2]", f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(sr_json_read_file(path, 6, &root, &err), SR_OK);
    cJSON_Delete(root);
    assert_int_equal(sr_json_read_file(path, 5, &root, &err), SR_EINPUT);
    assert_non_null(strstr(err.text, "out: larger than the limit of 5 bytes; is it the right file?"));
    assert_int_equal(unlink(path), 0);
}

static int make_dir(void **state) {
    (void)state;
    return mkdtemp(dir) == NULL;
}

static int drop_dir(void **state) {
    (void)state;
    char path[128];
    (void)snprintf(path, sizeof path, "%s/fifo", dir);
    (void)unlink(path);
    return rmdir(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_json_is_refused),  cmocka_unit_test(repeated_keys_of_large_objects),
        cmocka_unit_test(nested_json),          cmocka_unit_test(odd_values_of_json),
        cmocka_unit_test(long_strings_of_json), cmocka_unit_test(inputs_that_are_no_files),
        cmocka_unit_test(inputs_have_a_limit),
    };
    return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
