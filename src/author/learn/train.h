// What training consists of: train_problem.c makes data and loss, train.c descends.
#pragma once

#include "base/arena.h"
#include "learn/net.h"
#include "learn/network.h"
#include "learn/uv_map.h"

enum { JNA_SHARED_WEIGHT = 2 };

/// Data, network and loss.
typedef struct jnaProblem {
    jnNetworkKind kind;
    const jnaPairs* pairs;
    jnaArena arena; // of the arrays below
    jnaNetShape shape;
    int chunk; // samples of a worker
    int batch; // samples of a step
    int inputCount;
    float* inputs; // [pairs][inputCount], within [-1, 1] over the training poses
    int trainCount, heldCount;
    int *train, *held; // [trainCount], [heldCount], pairs
    double scale;      // 1 over the mean square displacement: the loss is in shares of that
    // [parameters], 0 for a weight that is not there, JNA_SHARED_WEIGHT into a unit that sees all joints
    uint8_t* mask;
    float* reach;      // [parameters], share of a step that a weight takes; below 1 from a joint to far components
    float* targets;    // pca: [pairs][outputs]
    float* squares;    // pca: [pairs][outputs], mean square metres of an output off by 1, as the pose's skin shows it
    double* residuals; // pca: [pairs], mean square metres that the components leave out
    jnaUvMap map;      // cnn
    float unit;        // cnn
} jnaProblem;

/// What training minds of a kind of network; see train_problem.c.
typedef struct jnaTrainTraits {
    double learningRate; // 0: there is nothing to train
    int stepsPerPose, leastSteps, mostSteps, leastEpochs, mostEpochs;
    // Targets and shape; fills what of the network does not depend on training.
    jnResult (*make)(const jnaCharacter* character, const jnaTrainDef* def, jnaProblem* problem, jnaNetwork* network,
        jnaNotes* notes, jnError* error);
    double (*loss)(const jnaProblem* problem, int pair, const float* outputs, double weight, float* gradient);
    void (*displace)(const jnaNetwork* network, const float* outputs, float* out);
} jnaTrainTraits;

extern const jnaTrainTraits jnaTrainTraitsOf[jn_networkKindCount];

/// Chooses inputs and makes targets; fills what of the network does not depend on training.
jnResult jnaCreateProblem(const jnaCharacter* character, const jnaPairs* pairs, const jnaTrainDef* def,
    jnaProblem* problem, jnaNetwork* network, jnaNotes* notes, jnError* error);
void jnaDestroyProblem(jnaProblem* problem);

/// Mean square error over the vertices of one pair in square metres. gradient: if not NULL, `weight` times the
/// derivative of the loss (in shares, with what else training minds) with respect to the outputs.
double jnaProblem_Loss(const jnaProblem* problem, int pair, const float* outputs, double weight, float* gradient);

/// Random parameters to start from; weights that are not there are 0.
void jnaProblem_Initialise(const jnaProblem* problem, uint64_t seed, float* parameters);

/// Inputs of one pair by a network's ranges. out: [inputCount]
void jnaNetwork_Inputs(const jnaNetwork* network, const jnaPairs* pairs, int pair, float* out);

/// Displacements from a network's outputs. out: [vertexCount][3]
void jnaNetwork_Displace(const jnaNetwork* network, const float* outputs, float* out);

/// The shape of a network's layers.
jnaNetShape jnaNetwork_Shape(const jnaNetwork* network);
