#ifndef SPIKEROOT_VERSION_H
#define SPIKEROOT_VERSION_H
#define SR_VERSION        "0.1.0"
#define SR_SCHEMA_VERSION 1
#endif
