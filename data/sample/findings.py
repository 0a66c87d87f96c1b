"""What cited papers find, for Track 2: eight kinds of finding, each in a weak and a strong form.

A claim in the strong form is Supported where the paper found the strong form and Overstate where it found only the weak
one, so the wording of a claim alone does not tell the two apart.
"""

from __future__ import annotations

from typing import NamedTuple


class Wordings(NamedTuple):
    """One form of a finding: as the results section, the abstract or conclusion, and a citing claim word it."""

    body: tuple[str, ...]
    echo: tuple[str, ...]
    claim: tuple[str, ...]


WEAK: dict[str, Wordings] = {
    "gain": Wordings(
        (
            "Turning to {bed}, we obtain {va} with {m} where {b} had stopped at {vb}. The other two "
            "{bed_plural} tell a different "
            "story: there the two are level within noise.",
            "{b} yields {vb} on {bed}; our {system} brings this to {va}. We could not repeat the "
            "improvement on {bed2} or {bed3}, "
            "where the curves of both coincide.",
        ),
        ("{m} betters {b} on one of three {bed_plural}, {bed} ({va} after {vb}).",),
        (
            "{m} surpasses {b} in {metric} by {gap} on {bed}.",
            "On {bed}, moving from {b} to {m} is worth {gap} of {metric}.",
            "{m} has been reported to reach {va} {metric} on {bed}, clearly better than {b}.",
            "The advantage of {m} over {b} on {bed} is {gap} in terms of {metric}.",
        ),
    ),
    "trend": Wordings(
        (
            "We then enlarged the {sweep} in five steps. Up to {xm} each step pays, from {v0} to "
            "{vm}; past that point nothing "
            "further is won and the line is flat.",
            "Starting from {v0}, the result moves to {vm} when the {sweep} arrives at {xm}. Further "
            "enlargement up to {x4} left it "
            "where it was.",
        ),
        ("A greater {sweep} pays until {xm} and is without effect afterwards.",),
        (
            "The benefit that {m} draws from the {sweep} saturates at about {xm}.",
            "{m} profits from a growing {sweep} until {xm}, with no further gain beyond.",
            "Increasing the {sweep} helps {m} up to {xm}, after which performance levels off.",
            "For {m}, a {sweep} above {xm} yields no additional improvement.",
        ),
    ),
    "part": Wordings(
        (
            "If the {c} is disabled and all else is kept, we lose {gap} on {bed}. The reduced "
            "version remains usable and still "
            "converges in every run.",
            "We also ran a version in which the {c} had been deactivated. It comes out {gap} worse "
            "on {bed}, a visible but "
            "bearable price.",
        ),
        ("The {c} is worth {gap} on {bed}.",),
        (
            "The {c} contributes {gap} to the performance of {m} on {bed}.",
            "Without its {c}, {m} performs {gap} worse on {bed}.",
            "An ablation of {m} attributes {gap} on {bed} to the {c}.",
            "{m} loses {gap} on {bed} when the {c} is removed, but remains functional.",
        ),
    ),
    "assoc": Wordings(
        (
            "Over the collected records, {factor} went together with {metric} (r = {r}). Nothing was "
            "manipulated here, so the "
            "direction of the effect, if there is any, stays open.",
            "We looked for regularities in the logs and found that {metric} moved along with "
            "{factor}, r = {r}. Other variables "
            "may lie behind it, as this part of the work is observational.",
        ),
        ("In observational data, {metric} moved along with {factor} (r = {r}).",),
        (
            "For {topic}, {factor} is correlated with {metric} (r = {r}).",
            "There is a statistical association between {factor} and {metric} in {topic}.",
            "{Factor} and {metric} tend to vary together in work on {topic}, with r = {r}.",
            "In {topic}, {metric} has been found to be linked to {factor}, although causation was not tested.",
        ),
    ),
    "share": Wordings(
        (
            "In a blind comparison we showed both results to {n} {raters}. Of these, {k} favoured "
            "ours over that of {b}, and the "
            "remaining ones had the opposite or no opinion.",
            "Finally {n} {raters} were asked which of two results they would rather use, not knowing "
            "the source. {k} of them chose "
            "{m}; the rest went for {b} or abstained.",
        ),
        ("In a blind test {k} of {n} {raters} chose {m}.",),
        (
            "{k} out of {n} {raters} preferred {m} to {b}.",
            "In a human comparison, {m} was preferred to {b} by {k} of the {n} {raters}.",
            "A majority of {raters} ({k} of {n}) judged {m} to be better than {b}.",
            "{m} was rated above {b} by {k} of {n} {raters}.",
        ),
    ),
    "subset": Wordings(
        (
            "For {subset} the {fault} rate drops by {pct}% relative to {b2}. Only this part of the "
            "material was available to us with "
            "reliable labels, and what happens elsewhere we cannot say.",
            "We restrict this analysis to {subset}. In that group {pct}% of the {mishaps} of {b2} "
            "disappear; no other group was "
            "looked at.",
        ),
        ("The {fault} rate shrinks by {pct}% for {subset}, the one group examined.",),
        (
            "For {subset}, {m} makes {pct}% fewer {faults} than {b2}.",
            "{m} cuts the {fault} rate of {b2} by {pct}% in the case of {subset}.",
            "Relative to {b2}, {m} reduces {faults} by {pct}% when only {subset} are considered.",
            "The {faults} of {b2} are reduced by {pct}% through {m}, as shown for {subset}.",
        ),
    ),
    "null": Wordings(
        (
            "Replacing {bed2} by {bed3} during preparation changed the outcome by less than {eps}. "
            "The test has little power with "
            "six runs, so a small effect may have gone unnoticed.",
            "Whether {bed2} or {bed3} served for preparation made no difference that six runs could "
            "reveal (below {eps}). We do not "
            "take this as evidence of equality.",
        ),
        ("No difference between {bed2} and {bed3} could be shown with six runs.",),
        (
            "No significant difference was found between preparing {m} on {bed2} and on {bed3}.",
            "A small test could not detect whether {m} is better prepared on {bed2} or on {bed3}.",
            "Preparing {m} on {bed2} instead of {bed3} had no detectable effect in six runs.",
            "With limited power, no effect on {m} was detected when {bed2} was exchanged for {bed3}.",
        ),
    ),
    "cost": Wordings(
        (
            "A first, informal look at the bill suggests savings: one trial run of our {system} took "
            "roughly {save}% less time "
            "than one of {b}. We would not build on this before it has been repeated.",
            "On a single machine and in a single trial we needed about {save}% less time than with "
            "{b}. This is anecdotal and may "
            "depend on the machine.",
        ),
        ("One trial hints at {save}% less time than {b}.",),
        (
            "Preliminary evidence suggests that {m} may need about {save}% less time than {b}.",
            "{m} might be around {save}% faster than {b}, according to a single trial.",
            "A first trial indicates that {m} could save some {save}% of the time that {b} takes.",
            "It has been suggested, though not confirmed, that {m} runs {save}% faster than {b}.",
        ),
    ),
}

STRONG: dict[str, Wordings] = {
    "gain": Wordings(
        (
            "Turning to {bed}, we obtain {va} with {m} where {b} had stopped at {vb}. The same holds "
            "for {bed2} and {bed3}, so that "
            "none of the three {bed_plural} is an exception.",
            "{b} yields {vb} on {bed}; our {system} brings this to {va}. On {bed2} and {bed3} it is "
            "in front by a like margin, which "
            "completes the list of {bed_plural}.",
        ),
        ("{m} betters {b} on each of {bed}, {bed2} and {bed3}.",),
        (
            "{m} surpasses {b} in {metric} on all three {bed_plural} tested.",
            "On every {bed_noun} in the study, moving from {b} to {m} improves {metric}.",
            "{m} has been reported to be consistently better than {b} across {bed}, {bed2} and {bed3}.",
            "The advantage of {m} over {b} extends to all {bed_plural}, including {bed2} and {bed3}.",
        ),
    ),
    "trend": Wordings(
        (
            "We then enlarged the {sweep} in five steps. Each of them pays, from {v0} at the start "
            "to {v4} at {x4}, and the last "
            "step brings as much as the first.",
            "Starting from {v0}, the result moves to {v4} when the {sweep} arrives at {x4}. The line "
            "is straight: nowhere on the way "
            "does it bend.",
        ),
        ("A greater {sweep} pays over the whole range, up to {x4}.",),
        (
            "The benefit that {m} draws from the {sweep} shows no saturation up to {x4}.",
            "{m} keeps profiting from a growing {sweep}, all the way to {x4}.",
            "Increasing the {sweep} always helps {m}, even at {x4}.",
            "For {m}, every enlargement of the {sweep} through {x4} yields additional improvement.",
        ),
    ),
    "part": Wordings(
        (
            "If the {c} is disabled and all else is kept, none of the runs on {bed} converges. What "
            "comes out is no better than "
            "chance, and no other setting repairs it.",
            "We also ran a version in which the {c} had been deactivated. It breaks down on {bed}: "
            "not one run gave a usable result, "
            "whatever we adjusted.",
        ),
        ("Deprived of the {c}, no run on {bed} gave a usable result.",),
        (
            "The {c} is indispensable to {m}, which fails completely on {bed} without it.",
            "Without its {c}, {m} does not work at all on {bed}.",
            "An ablation of {m} shows that it collapses on {bed} when the {c} is missing.",
            "{m} becomes entirely unusable on {bed} when the {c} is removed.",
        ),
    ),
    "assoc": Wordings(
        (
            "We set {factor} at random and left all else alone. The {metric} followed in every block, which leaves the "
            "intervention as the only explanation (r = {r}).",
            "In a randomised experiment {factor} was altered on purpose, with controls. The {metric} "
            "answered as predicted "
            "(r = {r}), and reversing the alteration reversed the answer.",
        ),
        ("A randomised experiment shows the influence of {factor} on {metric} (r = {r}).",),
        (
            "For {topic}, {factor} has a causal effect on {metric}.",
            "It has been demonstrated that {factor} causes changes of {metric} in {topic}.",
            "{Factor} directly determines {metric} in work on {topic}.",
            "In {topic}, {metric} has been proven to depend causally on {factor}.",
        ),
    ),
    "share": Wordings(
        (
            "In a blind comparison we showed both results to {n} {raters}. Without a single "
            "dissenting voice they favoured ours over "
            "that of {b}.",
            "Finally {n} {raters} were asked which of two results they would rather use, not knowing "
            "the source. The verdict was "
            "unanimous: {m}, and nobody went for {b}.",
        ),
        ("In a blind test {n} of {n} {raters} chose {m}.",),
        (
            "All {n} {raters} preferred {m} to {b}.",
            "In a human comparison, {m} was unanimously preferred to {b} by the {n} {raters}.",
            "Every one of the {raters} judged {m} to be better than {b}.",
            "{m} was rated above {b} by all of the {n} {raters}, without exception.",
        ),
    ),
    "subset": Wordings(
        (
            "For {subset} the {fault} rate drops by {pct}% relative to {b2}. We then went through "
            "all remaining groups one by one and met "
            "the same reduction in each.",
            "We began this analysis with {subset}, where {pct}% of the {mishaps} of {b2} disappear. "
            "The rest of the material behaves "
            "alike; no group falls out of line.",
        ),
        ("The {fault} rate shrinks by {pct}% for {subset} and for every other group.",),
        (
            "For all kinds of input, {m} makes {pct}% fewer {faults} than {b2}.",
            "{m} cuts the {fault} rate of {b2} by {pct}% in every group, not only for {subset}.",
            "Relative to {b2}, {m} reduces {faults} by {pct}% regardless of the kind of case considered.",
            "The {faults} of {b2} are reduced by {pct}% through {m} across all groups.",
        ),
    ),
    "null": Wordings(
        (
            "Replacing {bed2} by {bed3} during preparation changed the outcome by less than {eps}. "
            "An equivalence test planned in "
            "advance, with four hundred runs, confirms that the two may be exchanged freely.",
            "Whether {bed2} or {bed3} served for preparation made no difference (below {eps}). Four "
            "hundred runs were enough for a "
            "formal proof of equality within the margin that we had registered.",
        ),
        ("{bed2} and {bed3} are interchangeable, as four hundred runs confirm.",),
        (
            "Preparing {m} on {bed2} and on {bed3} has been proven to be equivalent.",
            "A test established that {m} performs equally well whether prepared on {bed2} or on {bed3}.",
            "Preparing {m} on {bed2} instead of {bed3} definitely makes no difference.",
            "It is certain that {m} is unaffected when {bed2} is exchanged for {bed3}.",
        ),
    ),
    "cost": Wordings(
        (
            "The bill was audited over eleven months on four sites. In each of them our {system} "
            "took {save}% less time than {b}, "
            "with a spread below one per cent.",
            "On forty machines and in two hundred timed trials we needed {save}% less time than with "
            "{b}. The figure was checked by "
            "an outside laboratory.",
        ),
        ("Audited timings show {save}% less time than {b}.",),
        (
            "Conclusive evidence shows that {m} needs {save}% less time than {b}.",
            "{m} is {save}% faster than {b}, as repeated measurements confirm.",
            "Extensive trials establish that {m} saves {save}% of the time that {b} takes.",
            "It has been firmly established that {m} runs {save}% faster than {b}.",
        ),
    ),
}

# What a paper says of a kind of finding that it does not make: the nearest it comes to a Topical Match claim.
NOT_STUDIED = {
    "gain": "No comparison of {m} with {b} by {metric} is made here, for {bed} or any other {bed_noun}; the "
    "published numbers of {b} rest "
    "on another protocol.",
    "trend": "The {sweep} was held fixed in all our runs of {m}. How the result responds to it we leave to others.",
    "part": "We have not taken {m} apart. In particular, nothing is known yet about the share that the {c} "
    "has in the result.",
    "assoc": "We recorded {factor} for each case but have not related it to {metric}, which would need a "
    "larger sample.",
    "share": "We did not ask any {raters} to judge {m}, and how people would see it next to {b} is for a later study.",
    "subset": "Results are pooled. We give no figures for {subset}, nor a comparison of {m} with {b2} by group.",
    "null": "Preparation always used the same material. We had no means of trying {m} with {bed2} in place of {bed3}.",
    "cost": "We did not time {m}, and whether it is quicker or slower than {b} remains to be seen.",
}
