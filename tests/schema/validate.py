#!/usr/bin/env python3
"""Validate phase JSON files against docs/schema: validate.py FILE...

The schema is chosen by the file's `phase`.  Prints one line for each violation; exit 1 if there is one,
77 if the jsonschema package is not installed.  JSON text that Python accepts and the standard does not
(bare NaN, duplicate keys) is a violation too, and so are keys in another order than the schema's.
"""
import json
import os
import sys

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is not installed")
    sys.exit(77)

SCHEMAS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "schema")


def no_constant(text):
    raise ValueError(f"bare {text}")


def no_duplicates(pairs):
    out = dict(pairs)
    if len(out) != len(pairs):
        keys = [k for k, _ in pairs]
        raise ValueError(f"duplicate key {next(k for k in keys if keys.count(k) > 1)!r}")
    return out


def load(path):
    with open(path, encoding="utf-8", newline="") as f:
        text = f.read()
    if not text.endswith("}\n") or "\r" in text:
        raise ValueError("does not end with one LF")
    return json.loads(text, parse_constant=no_constant, object_pairs_hook=no_duplicates)


def properties(validator, expected, instance, schema):
    if isinstance(instance, dict):
        known = [k for k in instance if k in expected]
        order = [k for k in expected if k in instance]
        if known != order:
            yield jsonschema.ValidationError(f"keys in the order {known}, not {order}")
    yield from jsonschema.Draft7Validator.VALIDATORS["properties"](validator, expected, instance, schema)


def validator(phase):
    with open(os.path.join(SCHEMAS, f"p{phase}.schema.json"), encoding="utf-8") as f:
        schema = json.load(f)
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.validators.extend(jsonschema.Draft7Validator, {"properties": properties})(schema)


def main(paths):
    bad = 0
    for path in paths:
        try:
            doc = load(path)
            errors = [("/".join(map(str, e.absolute_path)) or ".", e.message) for e in
                      sorted(validator(doc.get("phase")).iter_errors(doc), key=lambda e: [str(p) for p in e.absolute_path])]
        except (ValueError, OSError) as e:
            errors = [(".", str(e))]
        for where, message in errors[:10]:
            print(f"{path}: {where}: {message[:300]}")
        bad += bool(errors)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
