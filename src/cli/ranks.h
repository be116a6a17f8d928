// The processes of one mpirun: who I am, and a queue of numbers that is handed out among all.
#pragma once

#include "jounce/base.h"

#include <pthread.h>

/// Start from jncBeginRanks. A run without mpirun, or a command built without MPI, is rank 0 of 1.
typedef struct jncRanks {
    int rank, size;
    bool queued;           // the queue works; otherwise the ranks have fixed shares
    int next;              // rank 0: the next number of the queue
    pthread_mutex_t mutex; // rank 0: guards next
    pthread_t server;      // rank 0: answers the others
    bool serving;
} jncRanks;

/// MPI is only touched where mpirun started this process.
jncRanks* jncBeginRanks(jncRanks* ranks);
void jncEndRanks(jncRanks* ranks);

/// Every rank opens the queue, takes from it until it has enough, and closes it; then all go on together.
/// Threads of a rank take one at a time.
void jncRanks_Open(jncRanks* ranks);
int jncRanks_Next(void* ranks);
void jncRanks_Close(jncRanks* ranks);

/// How many numbers rank 0 has handed out.
int jncRanks_HandedOut(jncRanks* ranks);

/// Whether all ranks say yes. Every rank must ask.
bool jncRanks_All(jncRanks* ranks, bool yes);
