// See near_names.h. Levenshtein's distance, one row at a time; a name that holds the other is near however long it is.
#include "base/near_names.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 127, MOST_NAMED = 3 };

static int Least(int a, int b, int c)
{
    int least = a < b ? a : b;
    return least < c ? least : c;
}

int jnaNameDistance(const char* a, const char* b)
{
    int row[LONGEST + 1];
    int width = (int)strnlen(b, LONGEST), height = (int)strnlen(a, LONGEST);
    for (int k = 0; k <= width; ++k) {
        row[k] = k;
    }
    for (int i = 1; i <= height; ++i) {
        int diagonal = row[0];
        row[0] = i;
        for (int k = 1; k <= width; ++k) {
            int same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[k - 1]);
            int next = Least(row[k] + 1, row[k - 1] + 1, diagonal + !same);
            diagonal = row[k];
            row[k] = next;
        }
    }
    return row[width];
}

static int Cost(const char* wanted, const char* name)
{
    return wanted[0] != '\0' && strcasestr(name, wanted) != NULL ? 1 : jnaNameDistance(wanted, name);
}

static bool IsNamed(const char* name, const char* const* names, const int* taken, int count)
{
    for (int i = 0; i < count; ++i) {
        if (strcmp(names[taken[i]], name) == 0) {
            return true;
        }
    }
    return false;
}

const char* jnaNearNames(const char* wanted, const char* const* names, int count, char* text, size_t size)
{
    int taken[MOST_NAMED];
    size_t length = 0;
    text[0] = '\0';
    for (int n = 0; n < MOST_NAMED; ++n) {
        int best = -1, cost = INT_MAX;
        for (int i = 0; i < count; ++i) {
            int own = names[i][0] != '\0' && !IsNamed(names[i], names, taken, n) ? Cost(wanted, names[i]) : INT_MAX;
            best = own < cost ? i : best;
            cost = own < cost ? own : cost;
        }
        if (best < 0 || length + strlen(names[best]) + 8 > size) {
            break;
        }
        taken[n] = best;
        length += (size_t)snprintf(text + length, size - length, "%s'%s'", n > 0 ? ", " : "", names[best]);
    }
    return text;
}
