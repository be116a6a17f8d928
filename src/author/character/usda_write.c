// A moving mesh as USD text: stage metadata, an Xform, and a Mesh whose points and normals are time samples.
//
// Points go to the file as they come; normals, which stand behind them, are kept in a temporary file until the end.
#include "character/mesh_cache.h"

#include "runtime/for_author.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct State {
    FILE* normals; // text of the normals' samples
    char name[JNA_NAME_LENGTH];
} State;

// USD names begin with a letter or '_' and go on with those and digits.
static void CleanName(const char* name, char* clean, size_t size)
{
    snprintf(clean, size, "%s", name != NULL && name[0] != '\0' ? name : "mesh");
    for (char* c = clean; *c != '\0'; ++c) {
        bool good = isalpha((unsigned char)*c) || *c == '_' || (c > clean && isdigit((unsigned char)*c));
        *c = good ? *c : '_';
    }
}

static void PutTuples(FILE* stream, const float* values, size_t count, int width)
{
    fputc('[', stream);
    for (size_t i = 0; i < count; ++i) {
        fputs(i > 0 ? ", (" : "(", stream);
        for (int k = 0; k < width; ++k) {
            fprintf(stream, k > 0 ? ", %.9g" : "%.9g", (double)values[i * (size_t)width + (size_t)k]);
        }
        fputc(')', stream);
    }
    fputc(']', stream);
}

static void PutStage(const jnaMeshCacheFile* f, const char* name)
{
    const jnaMeshCacheDef* def = &f->def;
    FILE* out = f->file.stream;
    fprintf(out,
        "#usda 1.0\n(\n    defaultPrim = \"%s\"\n    doc = \"jounce\"\n    endTimeCode = %d\n    framesPerSecond = "
        "%.9g\n"
        "    metersPerUnit = %.9g\n    startTimeCode = 0\n    timeCodesPerSecond = %.9g\n    upAxis = \"%s\"\n)\n\n",
        name, def->frameCount - 1, def->rate, def->metresPerUnit > 0 ? def->metresPerUnit : 1.0, def->rate,
        def->upAxis == JNA_UP_Z ? "Z" : "Y");
    fprintf(out, "def Xform \"%s\" (\n    kind = \"component\"\n)\n{\n    def Mesh \"%sShape\"\n    {\n", name, name);
    fputs("        uniform token subdivisionScheme = \"none\"\n        int[] faceVertexCounts = [", out);
    for (int t = 0; t < def->triangleCount; ++t) {
        fputs(t > 0 ? ", 3" : "3", out);
    }
    fputs("]\n        int[] faceVertexIndices = [", out);
    for (size_t i = 0; i < 3 * (size_t)def->triangleCount; ++i) {
        fprintf(out, i > 0 ? ", %d" : "%d", def->triangles[i]);
    }
    fputs("]\n", out);
    if (def->uvs != NULL) {
        fputs("        texCoord2f[] primvars:st = ", out);
        PutTuples(out, def->uvs, 3 * (size_t)def->triangleCount, 2);
        fputs(" (\n            interpolation = \"faceVarying\"\n        )\n", out);
    }
    fputs("        point3f[] points.timeSamples = {\n", out);
}

jnResult jnaCreateUsda(const char* path, const jnaMeshCacheDef* def, jnaMeshCacheFile* f, jnError* error)
{
    *f = (jnaMeshCacheFile){.def = *def};
    jnResult result = jnaCreateFile(path, &f->file, error);
    if (result != jn_ok) {
        return result;
    }
    State* s = f->state = calloc(1, sizeof(State));
    if (s != NULL && def->withNormals) {
        s->normals = tmpfile();
    }
    if (s == NULL || (def->withNormals && s->normals == NULL)) {
        result = s == NULL ? jnFail(error, jn_outOfMemory, "%s: out of memory", path)
                           : jnFail(error, jn_ioFailed, "%s: cannot make a temporary file: %s", path, strerror(errno));
        jnaUsda_Abandon(f);
        return result;
    }
    CleanName(def->name, s->name, sizeof(s->name));
    PutStage(f, s->name);
    return jn_ok;
}

jnResult jnaUsda_AddFrame(jnaMeshCacheFile* f, const float* positions, const float* normals, jnError* error)
{
    State* s = f->state;
    const jnaMeshCacheDef* def = &f->def;
    if (f->framesAdded == def->frameCount) {
        return jnFail(error, jn_badArgument, "%s: was to have %d frames", f->file.path, def->frameCount);
    }
    fprintf(f->file.stream, "            %d: ", f->framesAdded);
    PutTuples(f->file.stream, positions, (size_t)def->pointCount, 3);
    fputs(",\n", f->file.stream);
    if (def->withNormals) {
        size_t count = def->normalsAtCorners ? 3 * (size_t)def->triangleCount : (size_t)def->pointCount;
        fprintf(s->normals, "            %d: ", f->framesAdded);
        PutTuples(s->normals, normals, count, 3);
        fputs(",\n", s->normals);
    }
    f->framesAdded++;
    return jn_ok;
}

// False where the temporary file could not be written or read.
static bool CopyNormals(const jnaMeshCacheFile* f)
{
    const State* s = f->state;
    char buffer[65536];
    size_t count;
    if (fflush(s->normals) != 0 || fseek(s->normals, 0, SEEK_SET) != 0) {
        return false;
    }
    fputs("        normal3f[] normals.timeSamples = {\n", f->file.stream);
    while ((count = fread(buffer, 1, sizeof(buffer), s->normals)) > 0) {
        fwrite(buffer, 1, count, f->file.stream);
    }
    fputs("        }\n", f->file.stream);
    return ferror(s->normals) == 0;
}

jnResult jnaUsda_Commit(jnaMeshCacheFile* f, jnError* error)
{
    jnResult result = jn_ok;
    fputs("        }\n", f->file.stream);
    if (f->framesAdded != f->def.frameCount) {
        result =
            jnFail(error, jn_badArgument, "%s: has %d frames of %d", f->file.path, f->framesAdded, f->def.frameCount);
    } else if (f->def.withNormals && !CopyNormals(f)) {
        result = jnFail(error, jn_ioFailed, "%s: cannot write a temporary file: %s", f->file.path, strerror(errno));
    } else {
        // In USD the interpolation of an attribute with time samples is said where its default would stand.
        if (f->def.withNormals) {
            fprintf(f->file.stream, "        normal3f[] normals (\n            interpolation = \"%s\"\n        )\n",
                f->def.normalsAtCorners ? "faceVarying" : "vertex");
        }
        fputs("    }\n}\n", f->file.stream);
        result = jnaFile_Commit(&f->file, error);
    }
    jnaUsda_Abandon(f);
    return result;
}

void jnaUsda_Abandon(jnaMeshCacheFile* f)
{
    State* s = f->state;
    jnaFile_Abandon(&f->file);
    if (s != NULL && s->normals != NULL) {
        fclose(s->normals);
    }
    free(s);
    *f = (jnaMeshCacheFile){0};
}
