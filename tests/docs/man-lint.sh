# mandoc has nothing to say about docs/spikeroot.1.
command -v mandoc >/dev/null 2>&1 || { echo 'mandoc is not installed (sh setup.sh)'; exit 77; }
mandoc -T lint -W warning "$repo/docs/spikeroot.1"
