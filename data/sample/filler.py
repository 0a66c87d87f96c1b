"""The paragraphs around the findings of a cited paper: they share its names and state none of its results."""

from __future__ import annotations

HEADINGS = (
    "Abstract",
    "1 Introduction",
    "2 Related Work",
    "3 Method",
    "4 Data and Setup",
    "5 Results",
    "6 Limitations",
    "7 Conclusion",
)

ABSTRACT = (
    "{Topic} has drawn much attention, yet reports differ in what they measure. This paper presents "
    "{m}, a {system} built around the "
    "{c}, and studies it on {bed}, {bed2} and {bed3}.",
    "We ask what a carefully built {system} can do for {topic}. To this end we introduce {m} and "
    "describe how it differs from {b} and {b2}.",
)
INTRO = (
    "{Topic} is a matter of daily practice, and errors in it are costly.",
    "Work on {topic} has long relied on rules of thumb.",
    "Over the last years, {system_plural} have replaced manual procedures in {topic}.",
    "What is still lacking is an account of when such {system_plural} help and when they do not.",
    "Many groups report {metric} and little else, which makes comparisons hard.",
    "Our interest in {topic} goes back to a joint project with two {raters}.",
    "We believe that {metric} is the measure that matters most to {raters}.",
    "A recurring complaint of {raters} is that {b} is hard to adapt.",
    "The present paper takes up this question and looks at {m} from several sides.",
    "One difficulty is that {factor} differs widely from case to case.",
    "Another difficulty lies in the {sweep}, which every study chooses differently.",
    "It is tempting to blame {factor} for all that goes wrong, and we shall see how far this goes.",
    "Our contributions are the {system} itself, a protocol for {topic}, and a set of measurements.",
    "We release the protocol so that others may repeat the work on {bed}.",
    "Earlier {system_plural} were built for settings in which the {sweep} hardly matters.",
    "The name {m} was chosen by one of the {raters} who tried an early version.",
)
RELATED = (
    "{author} studied {topic} on {bed} and found {other} to reach {num} in {metric}, with a protocol unlike ours.",
    "{author} compared {b} with {other} on {bed2} and saw a difference of {num2} points.",
    "For {other}, {author} describe a saturation as the {sweep} grows, though on private material.",
    "A survey by {author} lists more than thirty {system_plural} for {topic}.",
    "{author} asked {raters} about {other} and noted that most of them preferred it to {b}.",
    "In a study of {bed3}, {author} relate {factor} to the price of {other} and report a weak correlation.",
    "{b} goes back to {author}, who tested it on {bed} only.",
    "The {c} was first described by {author} as a part of {other}, where its removal had hardly any effect.",
    "{author} argue that {metric} alone is misleading in {topic} and propose to add a second measure.",
    "A faster variant of {b} is due to {author}; it saves about {num2}% of the time at some loss of {metric}.",
    "Work by {author} concentrates on {subset}, for which {other} is said to do better than {b2}.",
    "{author} hold that preparing {other} on {bed2} or on {bed3} comes to the same.",
    "The {c2} appears in several {system_plural}, among them {other} and {b2}.",
    "{author} report that {b2} fails on {bed} once {factor} is out of the usual range.",
    "Whether {factor} causes changes of {metric} was debated by {author} without a clear outcome.",
    "Closest to us is {author}, who use {other} for {topic} and stop at a single {bed_noun}.",
    "{author} doubt that results on {bed} carry over to {bed2}.",
    "An improvement of {other} over {b} by {num2} points on {bed2} is claimed by {author}.",
)
METHOD = (
    "{m} consists of two stages, and the {c} belongs to the first of them.",
    "The {c} takes the raw input and passes on what the second stage needs.",
    "The {c2} is optional and was switched on in all experiments unless noted.",
    "We follow {author} in how the {c2} is set up.",
    "The second stage is close to {b}, from which we took most settings.",
    "{m} does not read {factor} as an input.",
    "Settings were chosen once, before any number of this paper was computed.",
    "The {sweep} enters through a single parameter that the user may set.",
    "A full description of the {c} with all constants is given in the appendix.",
    "In contrast to {b2}, nothing is shared between the stages.",
    "We write the input as a sequence and keep its order throughout.",
    "The default for the {sweep} is {x1}, which suits most uses.",
    "Where {b} needs two passes, {m} gets by with one.",
    "The order of the stages can be exchanged, and we keep the one shown.",
    "The {c} and the {c2} are prepared separately and joined at the end.",
    "An early version of {m} lacked the {c2} and used a fixed rule in its place.",
)
SETUP = (
    "{bed} was collected by {author} and holds cases from four sources.",
    "{bed2} is the smallest of the {bed_plural} and the one with the most even mix.",
    "{bed3} has been in use since it was published by {author}.",
    "All three {bed_plural} are open to anyone who signs the usual terms.",
    "We report {metric} throughout and give the mean over runs.",
    "The {sweep} can take five settings, the largest of which is {x4}.",
    "{b} and {b2} were run with the settings that their authors recommend.",
    "Cases with missing entries were left out, which concerns less than two per cent of {bed}.",
    "Questions that only {raters} can answer were settled beforehand with the authors of {bed}.",
    "Of {bed2}, one fifth was set aside and never touched.",
    "Records of {factor} come with {bed} and were copied as they stand.",
    "Every run of {m} was started from the same script, with nothing else running.",
    "{Subset} were marked in {bed} by its authors.",
    "A list of all settings, including the {sweep}, accompanies this paper.",
)
DISCUSSION = (
    "Single cases from {bed} illustrate what the numbers mean.",
    "We looked through fifty unlucky cases of {m} and sorted them by hand.",
    "Most of the odd results that we looked at come from unusual input rather than from the {c}.",
    "A reader who is used to {b} will recognise the shape of these results.",
    "The spread between runs is small on {bed} and larger on {bed3}.",
    "We note in passing that {metric} is sensitive to rounding on {bed2}.",
    "These results should be seen beside those of {author}, who worked with {other}.",
    "Such cases are rare in {topic}, but they are the ones that {raters} remember.",
    "The choice of {metric} has some bearing on how the outcome is read.",
    "Further tables for {b2} can be found in the appendix.",
    "It would be of interest to see the same analysis for {other}.",
    "For some cases of {bed3} even two {raters} came to different conclusions.",
    "The following paragraphs go through the measurements in the order of the protocol.",
    "One example from {bed2} is shown in the appendix together with the output of {b}.",
)
LIMITS = (
    "All {bed_plural} come from the same region, and this may colour the results.",
    "We had no access to newer versions of {b2}.",
    "The number of runs was limited by our budget.",
    "Other measures than {metric} could lead to other views on {topic}.",
    "The authors of {bed} have meanwhile announced a corrected version.",
    "A study over a longer time is under way.",
)
CONCLUSION = (
    "We have presented {m} and looked at its use in {topic}.",
    "We hope that the protocol will be of use to others who work on {topic}.",
    "The next step is to try {m} where {bed} and {bed2} do not reach.",
)
