// The box of rigged_box.h as Collada, in metres; with a morph target "puff" and an animation of its weight where they
// are wanted.
#pragma once

#include "helpers/rigged_box.h"

// puffed: every second point is moved along X.
static inline void ColladaMesh(FILE* file, const char* id, bool puffed)
{
    fprintf(file, "<geometry id=\"%s\" name=\"%s\"><mesh><source id=\"%s-p\"><float_array id=\"%s-pa\" count=\"36\">",
        id, id, id, id);
    for (int i = 0; i < BOX_POINTS; ++i) {
        double p[3];
        BoxPoint(i, p);
        fprintf(file, "%g %g %g ", p[0] + (puffed && i % 2 != 0 ? 0.05 : 0), p[1], p[2]);
    }
    fprintf(file,
        "</float_array><technique_common><accessor source=\"#%s-pa\" count=\"12\" stride=\"3\"><param name=\"X\" "
        "type=\"float\"/><param name=\"Y\" type=\"float\"/><param name=\"Z\" type=\"float\"/></accessor>"
        "</technique_common></source><source id=\"%s-n\"><float_array id=\"%s-na\" count=\"60\">",
        id, id, id);
    for (int i = 0; i < BOX_TRIANGLES; ++i) { // one for each triangle, which is enough to split them
        fprintf(file, "%g %g 0 ", cos(0.1 * i), sin(0.1 * i));
    }
    fprintf(file,
        "</float_array><technique_common><accessor source=\"#%s-na\" count=\"20\" stride=\"3\"><param name=\"X\" "
        "type=\"float\"/><param name=\"Y\" type=\"float\"/><param name=\"Z\" type=\"float\"/></accessor>"
        "</technique_common></source><vertices id=\"%s-v\"><input semantic=\"POSITION\" source=\"#%s-p\"/></vertices>"
        "<triangles count=\"20\"><input semantic=\"VERTEX\" source=\"#%s-v\" offset=\"0\"/><input "
        "semantic=\"NORMAL\" source=\"#%s-n\" offset=\"1\"/><p>",
        id, id, id, id, id);
    int triangles[BOX_TRIANGLES][3];
    BoxTriangles(triangles);
    for (int i = 0; i < BOX_TRIANGLES; ++i) {
        const int* t = triangles[i];
        fprintf(file, "%d %d %d %d %d %d ", t[0], i, t[1], i, t[2], i);
    }
    fprintf(file, "</p></triangles></mesh></geometry>");
}

static inline void ColladaSkin(FILE* file, const char* source)
{
    fprintf(file,
        "<controller id=\"skin\"><skin source=\"#%s\"><bind_shape_matrix>1 0 0 0 0 1 0 0 0 0 1 0 "
        "0 0 "
        "0 1</bind_shape_matrix><source id=\"j\"><Name_array id=\"ja\" count=\"2\">Low "
        "High</Name_array><technique_common>"
        "<accessor source=\"#ja\" count=\"2\" stride=\"1\"><param name=\"JOINT\" type=\"name\"/></accessor>"
        "</technique_common></source><source id=\"b\"><float_array id=\"ba\" count=\"32\">1 0 0 0 0 1 0 0 0 0 1 0 0 0 "
        "0 1 "
        "1 0 0 0 0 1 0 -0.5 0 0 1 0 0 0 0 1</float_array><technique_common><accessor source=\"#ba\" count=\"2\" "
        "stride=\"16\"><param name=\"TRANSFORM\" type=\"float4x4\"/></accessor></technique_common></source>"
        "<source id=\"w\"><float_array id=\"wa\" count=\"1\">1</float_array><technique_common><accessor source=\"#wa\" "
        "count=\"1\" stride=\"1\"><param name=\"WEIGHT\" "
        "type=\"float\"/></accessor></technique_common></source><joints>"
        "<input semantic=\"JOINT\" source=\"#j\"/><input semantic=\"INV_BIND_MATRIX\" source=\"#b\"/></joints>"
        "<vertex_weights count=\"12\"><input semantic=\"JOINT\" source=\"#j\" offset=\"0\"/><input semantic=\"WEIGHT\" "
        "source=\"#w\" offset=\"1\"/><vcount>1 1 1 1 1 1 1 1 1 1 1 1</vcount><v>",
        source);
    for (int i = 0; i < BOX_POINTS; ++i) {
        fprintf(file, "%d 0 ", BoxJoint(i));
    }
    fprintf(file, "</v></vertex_weights></skin></controller>");
}

// A target that rests at 0.25, whose weight is animated: as Maya and the FBX converter name it.
static inline void ColladaMorph(FILE* file)
{
    fprintf(file,
        "<controller id=\"body-morph\"><morph source=\"#box\" method=\"NORMALIZED\"><source id=\"body-morph-targets\">"
        "<IDREF_array id=\"mt\" count=\"1\">puff</IDREF_array><technique_common><accessor source=\"#mt\" count=\"1\" "
        "stride=\"1\"><param name=\"MORPH_TARGET\" type=\"IDREF\"/></accessor></technique_common></source>"
        "<source id=\"body-morph-weights\"><float_array id=\"mw\" count=\"1\">0.25</float_array><technique_common>"
        "<accessor source=\"#mw\" count=\"1\" stride=\"1\"><param name=\"MORPH_WEIGHT\" type=\"float\"/></accessor>"
        "</technique_common></source><targets><input semantic=\"MORPH_TARGET\" source=\"#body-morph-targets\"/><input "
        "semantic=\"MORPH_WEIGHT\" source=\"#body-morph-weights\"/></targets></morph></controller>");
}

// morphs: 0 none; 1 beside the skin; 2 what the skin starts from.
static inline void WriteColladaBox(const char* path, int morphs)
{
    static const char weights[] =
        "<animation id=\"grow\"><source id=\"gw\"><float_array id=\"gwa\" count=\"2\">0 "
        "1</float_array><technique_common>"
        "<accessor source=\"#gwa\" count=\"2\" stride=\"1\"><param name=\"W\" type=\"float\"/></accessor>"
        "</technique_common></source><sampler id=\"gs\"><input semantic=\"INPUT\" source=\"#t\"/><input "
        "semantic=\"OUTPUT\" "
        "source=\"#gw\"/><input semantic=\"INTERPOLATION\" source=\"#i\"/></sampler><channel source=\"#gs\" "
        "target=\"body-morph-weights(0)\"/></animation>";
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "<?xml version=\"1.0\"?><COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" "
                  "version=\"1.4.1\"><asset><unit name=\"meter\" meter=\"1\"/><up_axis>Y_UP</up_axis></asset>");
    fprintf(file, "<library_geometries>");
    ColladaMesh(file, "box", false);
    if (morphs > 0) {
        ColladaMesh(file, "puff", true);
    }
    fprintf(file, "</library_geometries><library_controllers>");
    ColladaSkin(file, morphs == 2 ? "body-morph" : "box");
    if (morphs > 0) {
        ColladaMorph(file);
    }
    fprintf(file, "</library_controllers>");
    fprintf(file,
        "<library_animations><animation id=\"turn\"><source id=\"t\"><float_array id=\"ta\" count=\"2\">0 "
        "1</float_array>"
        "<technique_common><accessor source=\"#ta\" count=\"2\" stride=\"1\"><param name=\"TIME\" type=\"float\"/>"
        "</accessor></technique_common></source><source id=\"m\"><float_array id=\"ma\" count=\"32\">1 0 0 0 0 1 0 0.5 "
        "0 0 "
        "1 0 0 0 0 1 0 -1 0 0 1 0 0 0.5 0 0 1 0 0 0 0 1</float_array><technique_common><accessor source=\"#ma\" "
        "count=\"2\" stride=\"16\"><param name=\"TRANSFORM\" type=\"float4x4\"/></accessor></technique_common></source>"
        "<source id=\"i\"><Name_array id=\"ia\" count=\"2\">LINEAR LINEAR</Name_array><technique_common><accessor "
        "source=\"#ia\" count=\"2\" stride=\"1\"><param name=\"INTERPOLATION\" type=\"name\"/></accessor>"
        "</technique_common></source><sampler id=\"s\"><input semantic=\"INPUT\" source=\"#t\"/><input "
        "semantic=\"OUTPUT\" "
        "source=\"#m\"/><input semantic=\"INTERPOLATION\" source=\"#i\"/></sampler><channel source=\"#s\" "
        "target=\"High/matrix\"/></animation>%s</library_animations><library_visual_scenes><visual_scene "
        "id=\"scene\"><node "
        "id=\"Low\" name=\"Low\" sid=\"Low\" type=\"JOINT\"><matrix sid=\"matrix\">1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 "
        "1</matrix><node id=\"High\" name=\"High\" sid=\"High\" type=\"JOINT\"><matrix sid=\"matrix\">1 0 0 0 0 1 0 "
        "0.5 0 0 "
        "1 0 0 0 0 1</matrix></node></node><node id=\"body\"><instance_controller "
        "url=\"#skin\"><skeleton>#Low</skeleton>"
        "</instance_controller></node></visual_scene></library_visual_scenes><scene><instance_visual_scene "
        "url=\"#scene\"/></scene></COLLADA>",
        morphs > 0 ? weights : "");
    fclose(file);
}
