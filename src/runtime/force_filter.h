// The saturation of the force on a mode, as a property of the motion and not of the steps it is sampled in.
//
// Flesh that is thrown hard goes taut. The force f is held back by how large it is over a time that flesh knows, not at
// an instant: poses on straight lines between the keys of a clip have accelerations that are spikes of one step, and
// what levels those off depends on the step. So u, the force through a low-pass filter of fixed cutoff w,
//
//     u'' + 2 r w u' + w^2 u = w^2 f        s(u) = u / sqrt(1 + (u / limit)^2)
//
// is what saturates, and the filter is undone behind it: the mode feels s(u) + (2 r / w) s(u)' + s(u)'' / w^2. Below
// the limit that is f itself, without delay; a spike goes through as the change of velocity that it is. It is applied
// as f minus the same of the excess e = u - s(u).
//
// Over an interval f is linear, so u is known in closed form at any time. The excess is a cubic between u's values and
// slopes at the ends of pieces of at most JN_FILTER_PIECE; its moments over a swing of at most JN_LONGEST_SWING, with
// those of its derivatives from its ends alone, give the linear force that has the same moments and that the mode is
// stepped with. A longer interval is several swings, at most JN_MOST_SWINGS.
#pragma once

#define JN_FILTER_HERTZ 12.0
#define JN_FILTER_RATIO 0.70710678118654752
#define JN_FILTER_PIECE 0.017
#define JN_LONGEST_SWING 0.034
// Below it the rate of the excess is rounding alone, and is left out.
#define JN_SHORTEST_SWING 5e-4
enum { JN_MOST_SWINGS = 64 };

#define JN_FILTER_OMEGA (6.28318530717958648 * JN_FILTER_HERTZ)
#define JN_FILTER_STIFFNESS (JN_FILTER_OMEGA * JN_FILTER_OMEGA)
#define JN_FILTER_DAMPING (2.0 * JN_FILTER_RATIO * JN_FILTER_OMEGA)
#define JN_FILTER_DELAY (2.0 * JN_FILTER_RATIO / JN_FILTER_OMEGA)

// How an interval of h seconds is divided: swings of equal length, each of so many pieces.
typedef struct jnFilterParts {
    int swings, pieces;
} jnFilterParts;

static inline jnFilterParts jnDivideInterval(double h)
{
    double swings = h / JN_LONGEST_SWING;
    jnFilterParts parts = {1, 1};
    parts.swings += swings < JN_MOST_SWINGS ? (int)swings : JN_MOST_SWINGS - 1;
    double pieces = h / parts.swings / JN_FILTER_PIECE;
    parts.pieces += pieces < JN_MOST_SWINGS ? (int)pieces : JN_MOST_SWINGS - 1;
    return parts;
}
