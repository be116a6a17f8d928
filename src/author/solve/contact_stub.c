#include "jounce-author/contact.h"
#include <stdlib.h>
#include <string.h>
void jnaDestroyContacts(jnaContacts* c)
{
    free(c->pairs);
    memset(c, 0, sizeof(*c));
}
jnaContactDef jnaDefaultContactDef(const jnaVolume* v)
{
    return (jnaContactDef){.volume = v};
}
jnResult jnaCreateContactShape(const jnaContactDef* d, jnaContactShape** s, jnError* e)
{
    (void)d;
    (void)e;
    *s = NULL;
    return jn_ok;
}
void jnaDestroyContactShape(jnaContactShape* s)
{
    (void)s;
}
jnResult jnaCreateContactFinder(const jnaContactShape* s, jnaContactFinder** f, jnError* e)
{
    (void)s;
    (void)f;
    (void)e;
    return jn_ok;
}
void jnaDestroyContactFinder(jnaContactFinder* f)
{
    (void)f;
}
jnResult jnaContactFinder_Find(jnaContactFinder* f, const double* n, jnaContacts* c, jnaPenetration* p, jnError* e)
{
    (void)f;
    (void)n;
    (void)c;
    (void)p;
    (void)e;
    return jn_ok;
}
jnResult jnaContactFinder_Measure(jnaContactFinder* f, const double* n, jnaPenetration* p, jnError* e)
{
    (void)f;
    (void)n;
    (void)p;
    (void)e;
    return jn_ok;
}
