// One soft vertex on a target that hops up and stops: the vertex overshoots, swings and comes to rest.
//
//     export PKG_CONFIG_PATH=DIR/lib/pkgconfig      # where cmake --install --prefix DIR put it
//     cc hello.c $(pkg-config --cflags jounce) $(pkg-config --variable=libdir jounce)/libjounce.a -lm && ./a.out
#include <jounce/jounce.h>

#include <stdio.h>

int main(void)
{
    jnSpringsDef def = jnDefaultSpringsDef();
    def.count = 1;
    def.uniformStiffness = jnStiffnessFromHertz(3.0f);    // swings three times a second
    def.uniformDamping = jnDampingFromRatio(3.0f, 0.15f); // and comes to rest in about a second
    jnError error;
    jnSprings* springs;
    if (jnCreateSprings(&def, &springs, &error) != jn_ok) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    float position[3];
    for (int frame = 0; frame < 60; ++frame) {
        float rise = frame < 5 ? 0.0f : frame < 15 ? 0.1f * (float)(frame - 5) : 1.0f;
        float height = 0.2f * rise; // the animation: still, then 20 cm up in a third of a second, then still
        float target[3] = {0.0f, height, 0.0f};
        jnSprings_Step(springs, &(jnSpringsInput){.h = 1.0f / 30.0f, .targets = target},
            &(jnSpringsOutput){.positions = position});
        printf("%2d  target %.3f m  vertex %.3f m  %*s\n", frame, (double)height, (double)position[1],
            (int)(position[1] * 150.0f), "o");
    }
    jnDestroySprings(springs);
    return position[1] > 0.19f && position[1] < 0.21f ? 0 : 1;
}
