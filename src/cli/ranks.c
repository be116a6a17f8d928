// The processes of one mpirun.
//
// Rank 0 has the queue. A thread of its own answers the others, so that nobody waits for a pose to be solved there; it
// looks for messages and sleeps in between, because MPI's own waiting would cost a core. In every rank one thread at a
// time speaks MPI: in rank 0 the server while the queue is open, elsewhere whoever holds the lock of the job.
#include "ranks.h"

#include <stdlib.h>

#ifdef JNC_HAVE_MPI

#include <mpi.h>
#include <time.h>

enum { ASK = 1, ANSWER, LEAVE };

static void Nap(void)
{
    nanosleep(&(struct timespec){0, 1000000}, NULL);
}

// As OpenMPI, MPICH and their relatives tell it.
static bool StartedByMpirun(void)
{
    static const char* const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        const char* text = getenv(names[i]);
        if (text != NULL && atoi(text) > 1) {
            return true;
        }
    }
    return false;
}

jncRanks* jncBeginRanks(jncRanks* ranks)
{
    *ranks = (jncRanks){.size = 1, .mutex = PTHREAD_MUTEX_INITIALIZER};
    if (StartedByMpirun()) {
        int level = MPI_THREAD_SINGLE;
        MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
        MPI_Comm_rank(MPI_COMM_WORLD, &ranks->rank);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks->size);
        ranks->queued = ranks->size > 1 && level >= MPI_THREAD_SERIALIZED;
    }
    return ranks;
}

void jncEndRanks(jncRanks* ranks)
{
    if (ranks->size > 1) {
        MPI_Finalize();
    }
}

static void Meet(void)
{
    MPI_Request request;
    int met = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!met) {
        MPI_Test(&request, &met, MPI_STATUS_IGNORE);
        if (!met) {
            Nap();
        }
    }
}

static int TakeNext(jncRanks* ranks)
{
    pthread_mutex_lock(&ranks->mutex);
    int next = ranks->next++;
    pthread_mutex_unlock(&ranks->mutex);
    return next;
}

static void* Serve(void* user)
{
    jncRanks* ranks = user;
    for (int left = 0; left < ranks->size - 1;) {
        MPI_Status status;
        int there = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
        if (!there) {
            Nap();
            continue;
        }
        MPI_Recv(NULL, 0, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (status.MPI_TAG == LEAVE) {
            left++;
        } else {
            int next = TakeNext(ranks);
            MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, ANSWER, MPI_COMM_WORLD);
        }
    }
    return NULL;
}

void jncRanks_Open(jncRanks* ranks)
{
    if (ranks->size == 1) {
        return;
    }
    Meet();
    ranks->next = 0;
    if (ranks->queued && ranks->rank == 0) {
        ranks->serving = pthread_create(&ranks->server, NULL, Serve, ranks) == 0;
        if (!ranks->serving) {
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
}

int jncRanks_Next(void* user)
{
    jncRanks* ranks = user;
    if (ranks->rank == 0) {
        return TakeNext(ranks);
    }
    int next = -1, there = 0;
    MPI_Request request;
    MPI_Irecv(&next, 1, MPI_INT, 0, ANSWER, MPI_COMM_WORLD, &request);
    MPI_Send(NULL, 0, MPI_INT, 0, ASK, MPI_COMM_WORLD);
    while (!there) {
        MPI_Test(&request, &there, MPI_STATUS_IGNORE);
        if (!there) {
            Nap();
        }
    }
    return next;
}

void jncRanks_Close(jncRanks* ranks)
{
    if (ranks->size == 1) {
        return;
    }
    if (ranks->queued && ranks->rank > 0) {
        MPI_Send(NULL, 0, MPI_INT, 0, LEAVE, MPI_COMM_WORLD);
    } else if (ranks->serving) {
        pthread_join(ranks->server, NULL);
        ranks->serving = false;
    }
    Meet();
}

bool jncRanks_All(jncRanks* ranks, bool yes)
{
    int mine = yes, all = yes;
    if (ranks->size > 1) {
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    }
    return all != 0;
}

#else

jncRanks* jncBeginRanks(jncRanks* ranks)
{
    *ranks = (jncRanks){.size = 1, .mutex = PTHREAD_MUTEX_INITIALIZER};
    return ranks;
}

void jncEndRanks(jncRanks* ranks)
{
    (void)ranks;
}

void jncRanks_Open(jncRanks* ranks)
{
    (void)ranks;
}

int jncRanks_Next(void* ranks)
{
    (void)ranks;
    return -1;
}

void jncRanks_Close(jncRanks* ranks)
{
    (void)ranks;
}

bool jncRanks_All(jncRanks* ranks, bool yes)
{
    (void)ranks;
    return yes;
}

#endif

int jncRanks_HandedOut(jncRanks* ranks)
{
    pthread_mutex_lock(&ranks->mutex);
    int next = ranks->next;
    pthread_mutex_unlock(&ranks->mutex);
    return next;
}
