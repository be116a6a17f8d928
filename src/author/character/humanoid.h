// Which joint of a skeleton is the left elbow, by the names that common tools give.
#pragma once

#include "character/character.h"

/// Parts of a human skeleton that have one joint on each side; right = left + 1.
typedef enum jnaSlot {
    jna_clavicle = 0,
    jna_upperArm = 2,
    jna_foreArm = 4,
    jna_hand = 6,
    jna_thigh = 8,
    jna_shin = 10,
    jna_foot = 12,
    jna_toe = 14,
    JNA_SIDED_SLOTS = 16,
} jnaSlot;

enum { JNA_MAX_CHAIN = 16 };

/// Joints of a skeleton by part; -1 for what it lacks.
typedef struct jnaHumanoid {
    int hips, head;
    int sided[JNA_SIDED_SLOTS];
    int spineCount, neckCount;
    int spine[JNA_MAX_CHAIN]; // hips upwards, without the hips
    int neck[JNA_MAX_CHAIN];  // without the head
} jnaHumanoid;

/// Sorts a skeleton's joints into parts by name: MotionBuilder and CMU, Mixamo, MakeHuman, Unreal, VRM, Biovision.
void jnaFindHumanoid(const jnaCharacter* skeleton, jnaHumanoid* humanoid);
