// The box of rigged_box.h as an ASCII FBX 7.4, in centimetres, with two morph targets where they are wanted: "puff"
// moves every second point along X, "lean", which rests at 0.3, the upper ring along Z. A clip of a second turns the
// upper joint and plays puff 0, 1, 0 at 0, 1/2 and 1 s, and lean 0.2 to 0.6 at 0 and 1 s: their keys stand at different
// times.
#pragma once

#include "helpers/rigged_box.h"

enum {
    FBX_MESH = 100,
    FBX_BODY,
    FBX_LOW,
    FBX_HIGH,
    FBX_SKIN,
    FBX_CLUSTER,
    FBX_STACK = 110,
    FBX_LAYER,
    FBX_TURN,
    FBX_CURVE = 120,
    FBX_BLEND = 130,
    FBX_CHANNEL = 140,
    FBX_SHAPE = 150,
    FBX_WEIGHT = 160,
    FBX_WEIGHT_CURVE = 170
};

// Units of time in a second.
static const long long fbxSecond = 46186158000;

// What a target adds to a point, in metres.
static inline void FbxTarget(int target, int point, double* offset)
{
    offset[0] = target == 0 && point % 2 != 0 ? 0.05 : 0;
    offset[1] = 0;
    offset[2] = target == 1 && BoxJoint(point) ? -0.1 : 0;
}

static inline double FbxRest(int target)
{
    return target == 0 ? 0 : 0.3;
}

static inline double FbxWeight(int target, double time)
{
    return target == 0 ? 1 - fabs(2 * time - 1) : 0.2 + 0.4 * time;
}

static inline void FbxMesh(FILE* file)
{
    int triangles[BOX_TRIANGLES][3];
    BoxTriangles(triangles);
    fprintf(file, "Geometry: %d, \"Geometry::Body\", \"Mesh\" {\n Vertices: *36 {\n a: ", FBX_MESH);
    for (int i = 0; i < BOX_POINTS; ++i) {
        double p[3];
        BoxPoint(i, p);
        fprintf(file, "%s%g,%g,%g", i > 0 ? "," : "", 100 * p[0], 100 * p[1], 100 * p[2]);
    }
    fprintf(file, "\n }\n PolygonVertexIndex: *60 {\n a: ");
    for (int i = 0; i < BOX_TRIANGLES; ++i) {
        fprintf(file, "%s%d,%d,%d", i > 0 ? "," : "", triangles[i][0], triangles[i][1], -triangles[i][2] - 1);
    }
    fprintf(file, "\n }\n LayerElementNormal: 0 {\n Version: 101\n Name: \"\"\n MappingInformationType: "
                  "\"ByPolygonVertex\"\n ReferenceInformationType: \"Direct\"\n Normals: *180 {\n a: ");
    for (int i = 0; i < 3 * BOX_TRIANGLES; ++i) {
        fprintf(file, "%s%g,%g,0", i > 0 ? "," : "", cos(0.1 * (i / 3)), sin(0.1 * (i / 3)));
    }
    fprintf(file, "\n }\n }\n Layer: 0 {\n Version: 100\n LayerElement: {\n Type: \"LayerElementNormal\"\n TypedIndex: "
                  "0\n }\n }\n}\n");
}

static inline void FbxModel(FILE* file, int id, const char* name, const char* kind, double height)
{
    fprintf(file,
        "Model: %d, \"Model::%s\", \"%s\" {\n Version: 232\n Properties70: {\n P: \"Lcl Translation\", \"Lcl "
        "Translation\", \"\", \"A\",0,%g,0\n }\n Shading: Y\n Culling: \"CullingOff\"\n}\n",
        id, name, kind, height);
}

static inline void FbxSkin(FILE* file)
{
    fprintf(file, "Deformer: %d, \"Deformer::\", \"Skin\" {\n Version: 101\n}\n", FBX_SKIN);
    for (int joint = 0; joint < 2; ++joint) {
        int held = 0;
        for (int i = 0; i < BOX_POINTS; ++i) {
            held += BoxJoint(i) == joint;
        }
        fprintf(file,
            "Deformer: %d, \"SubDeformer::\", \"Cluster\" {\n Version: 100\n UserData: \"\", \"\"\n Indexes: "
            "*%d {\n a: ",
            FBX_CLUSTER + joint, held);
        for (int i = 0, n = 0; i < BOX_POINTS; ++i) {
            if (BoxJoint(i) == joint) {
                fprintf(file, "%s%d", n++ > 0 ? "," : "", i);
            }
        }
        fprintf(file, "\n }\n Weights: *%d {\n a: 1", held);
        for (int i = 1; i < held; ++i) {
            fprintf(file, ",1");
        }
        fprintf(file,
            "\n }\n Transform: *16 {\n a: 1,0,0,0,0,1,0,0,0,0,1,0,0,%d,0,1\n }\n TransformLink: *16 {\n a: "
            "1,0,0,0,0,1,0,0,0,0,1,0,0,%d,0,1\n }\n}\n",
            -50 * joint, 50 * joint);
    }
}

static inline void FbxShapes(FILE* file)
{
    static const char* names[] = {"puff", "lean"};
    fprintf(file, "Deformer: %d, \"Deformer::\", \"BlendShape\" {\n Version: 100\n}\n", FBX_BLEND);
    for (int t = 0; t < 2; ++t) {
        fprintf(file,
            "Deformer: %d, \"SubDeformer::%s\", \"BlendShapeChannel\" {\n Version: 100\n DeformPercent: %g\n "
            "FullWeights: *1 {\n a: 100\n }\n}\n",
            FBX_CHANNEL + t, names[t], 100 * FbxRest(t));
        fprintf(file,
            "Geometry: %d, \"Geometry::%s\", \"Shape\" {\n Version: 100\n Indexes: *12 {\n a: "
            "0,1,2,3,4,5,6,7,8,9,10,11\n }\n Vertices: *36 {\n a: ",
            FBX_SHAPE + t, names[t]);
        for (int i = 0; i < BOX_POINTS; ++i) {
            double offset[3];
            FbxTarget(t, i, offset);
            fprintf(file, "%s%g,%g,%g", i > 0 ? "," : "", 100 * offset[0], 100 * offset[1], 100 * offset[2]);
        }
        fprintf(file, "\n }\n Normals: *36 {\n a: 0");
        for (int i = 1; i < 3 * BOX_POINTS; ++i) {
            fprintf(file, ",0");
        }
        fprintf(file, "\n }\n}\n");
    }
}

static inline void FbxCurve(FILE* file, int id, int count, const double* times, const double* values)
{
    fprintf(file, "AnimationCurve: %d, \"AnimCurve::\", \"\" {\n Default: 0\n KeyVer: 4008\n KeyTime: *%d {\n a: ", id,
        count);
    for (int i = 0; i < count; ++i) {
        fprintf(file, "%s%lld", i > 0 ? "," : "", (long long)(times[i] * (double)fbxSecond));
    }
    fprintf(file, "\n }\n KeyValueFloat: *%d {\n a: ", count);
    for (int i = 0; i < count; ++i) {
        fprintf(file, "%s%g", i > 0 ? "," : "", values[i]);
    }
    fprintf(file,
        "\n }\n KeyAttrFlags: *1 {\n a: 4\n }\n KeyAttrDataFloat: *4 {\n a: 0,0,0,0\n }\n KeyAttrRefCount: *1 "
        "{\n a: %d\n }\n}\n",
        count);
}

static inline void FbxAnimation(FILE* file, bool morphs)
{
    const double whole[2] = {0, 1}, halves[3] = {0, 0.5, 1};
    fprintf(file,
        "AnimationStack: %d, \"AnimStack::Turn\", \"\" {\n}\nAnimationLayer: %d, \"AnimLayer::Base\", \"\" "
        "{\n}\nAnimationCurveNode: %d, \"AnimCurveNode::R\", \"\" {\n}\n",
        FBX_STACK, FBX_LAYER, FBX_TURN);
    FbxCurve(file, FBX_CURVE, 2, whole, (double[]){0, 0});
    FbxCurve(file, FBX_CURVE + 1, 2, whole, (double[]){0, 0});
    FbxCurve(file, FBX_CURVE + 2, 2, whole, (double[]){0, 90});
    for (int t = 0; morphs && t < 2; ++t) {
        int keys = t == 0 ? 3 : 2;
        const double* times = t == 0 ? halves : whole;
        double percent[3];
        for (int k = 0; k < keys; ++k) {
            percent[k] = 100 * FbxWeight(t, times[k]);
        }
        fprintf(file, "AnimationCurveNode: %d, \"AnimCurveNode::DeformPercent\", \"\" {\n}\n", FBX_WEIGHT + t);
        FbxCurve(file, FBX_WEIGHT_CURVE + t, keys, times, percent);
    }
}

static inline void FbxConnections(FILE* file, bool morphs)
{
    const int links[][2] = {{FBX_BODY, 0}, {FBX_LOW, 0}, {FBX_HIGH, FBX_LOW}, {FBX_MESH, FBX_BODY},
        {FBX_SKIN, FBX_MESH}, {FBX_CLUSTER, FBX_SKIN}, {FBX_CLUSTER + 1, FBX_SKIN}, {FBX_LOW, FBX_CLUSTER},
        {FBX_HIGH, FBX_CLUSTER + 1}, {FBX_LAYER, FBX_STACK}, {FBX_TURN, FBX_LAYER}};
    fprintf(file, "Connections: {\n");
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); ++i) {
        fprintf(file, " C: \"OO\",%d,%d\n", links[i][0], links[i][1]);
    }
    fprintf(file, " C: \"OP\",%d,%d, \"Lcl Rotation\"\n", FBX_TURN, FBX_HIGH);
    for (int i = 0; i < 3; ++i) {
        fprintf(file, " C: \"OP\",%d,%d, \"d|%c\"\n", FBX_CURVE + i, FBX_TURN, 'X' + i);
    }
    if (morphs) {
        fprintf(file, " C: \"OO\",%d,%d\n", FBX_BLEND, FBX_MESH);
    }
    for (int t = 0; morphs && t < 2; ++t) {
        fprintf(file, " C: \"OO\",%d,%d\n C: \"OO\",%d,%d\n C: \"OO\",%d,%d\n", FBX_CHANNEL + t, FBX_BLEND,
            FBX_SHAPE + t, FBX_CHANNEL + t, FBX_WEIGHT + t, FBX_LAYER);
        fprintf(file, " C: \"OP\",%d,%d, \"DeformPercent\"\n C: \"OP\",%d,%d, \"d|DeformPercent\"\n", FBX_WEIGHT + t,
            FBX_CHANNEL + t, FBX_WEIGHT_CURVE + t, FBX_WEIGHT + t);
    }
    fprintf(file, "}\n");
}

static inline void WriteFbxBox(const char* path, bool morphs)
{
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
        "; FBX 7.4.0 project file\nFBXHeaderExtension: {\n FBXHeaderVersion: 1003\n FBXVersion: 7400\n}\n"
        "GlobalSettings: {\n Version: 1000\n Properties70: {\n P: \"UpAxis\", \"int\", \"Integer\", \"\",1\n P: "
        "\"UnitScaleFactor\", \"double\", \"Number\", \"\",1\n P: \"TimeMode\", \"enum\", \"\", \"\",6\n }\n}\n"
        "Objects: {\n");
    FbxMesh(file);
    FbxModel(file, FBX_BODY, "Body", "Mesh", 0);
    FbxModel(file, FBX_LOW, "Low", "LimbNode", 0);
    FbxModel(file, FBX_HIGH, "High", "LimbNode", 50);
    FbxSkin(file);
    if (morphs) {
        FbxShapes(file);
    }
    FbxAnimation(file, morphs);
    fprintf(file, "}\n");
    FbxConnections(file, morphs);
    fclose(file);
}
