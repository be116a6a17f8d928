// URIs of a glTF file: relative paths, percent-encoded, that must stay in the model's folder. A model from elsewhere
// could otherwise name any file of the machine as a buffer and bring its bytes into what is made from it.
#include "base/path.h"
#include "base/try.h"
#include "character/gltf.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <unistd.h>

static int HexDigit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// False where it does not fit or holds a zero.
static bool Decode(const char* uri, char* path, size_t size)
{
    size_t length = 0;
    for (const char* c = uri; *c != '\0'; ++c) {
        bool encoded = *c == '%' && HexDigit(c[1]) >= 0 && HexDigit(c[2]) >= 0;
        char byte = encoded ? (char)(HexDigit(c[1]) * 16 + HexDigit(c[2])) : *c;
        if (length + 1 >= size || byte == '\0') {
            return false;
        }
        path[length++] = byte;
        c += encoded ? 2 : 0;
    }
    path[length] = '\0';
    return length > 0;
}

// Whether no part of a path is "..", and it begins neither with '/' nor with a scheme.
static bool StaysInside(const char* path)
{
    size_t scheme = strcspn(path, ":/\\");
    if (path[0] == '/' || path[0] == '\\' || path[scheme] == ':') {
        return false;
    }
    for (const char* part = path; *part != '\0';) {
        size_t length = strcspn(part, "/\\");
        if (length == 2 && part[0] == '.' && part[1] == '.') {
            return false;
        }
        part += length + (part[length] != '\0');
    }
    return true;
}

bool jnaGltf_DecodeUri(const char* uri, char* path)
{
    return Decode(uri, path, JNA_PATH_LENGTH) && StaysInside(path);
}

// Whether a file is below a folder once all links are followed.
static bool IsBelow(const char* file, const char* folder)
{
    char *real = realpath(file, NULL), *root = realpath(folder, NULL);
    size_t length = root != NULL ? strlen(root) : 0;
    bool below = real != NULL && root != NULL && strncmp(real, root, length) == 0 &&
                 (real[length] == '/' || (length == 1 && root[0] == '/'));
    free(real);
    free(root);
    return below;
}

jnResult jnaGltf_ResolveUri(const char* model, const char* uri, char* path, jnError* error)
{
    char inside[JNA_PATH_LENGTH], folder[JNA_PATH_LENGTH];
    const char* slash = strrchr(model, '/');
    jnResult result = jn_ok;
    if (!jnaGltf_DecodeUri(uri, inside)) {
        return jnFail(error, jn_badData, "%s: its buffer '%.100s' is not a file in the model's folder", model, uri);
    }
    int length = slash != NULL ? (int)(slash - model) + (slash == model) : 1;
    snprintf(folder, sizeof(folder), "%.*s", length, slash != NULL ? model : ".");
    JN_TRY(jnaJoinPath(folder, inside, path, error));
    if (access(path, R_OK) != 0) {
        result = jnFail(error, jn_ioFailed, "%s: its buffer '%.100s' cannot be read", model, uri);
    } else if (!IsBelow(path, folder)) {
        result = jnFail(error, jn_badData, "%s: its buffer '%.100s' lies outside the model's folder", model, uri);
    }
done:
    return result;
}
