"""The invented world of the sample: four research fields with the names, measures and phenomena that papers draw from.

Every name stands in one pool that all splits share, and a paper uses only a few of it: a name that is foreign to one
paper's evidence is at home in another's, so no name gives a label away.
"""

from __future__ import annotations

from typing import NamedTuple


class Metric(NamedTuple):
    """A measure: how it is written, the range its values are drawn from and which direction is better."""

    name: str
    unit: str
    low: float
    high: float
    decimals: int
    higher: bool

    def show(self, value: float) -> str:
        """The value as the paper prints it, with its unit: `71.4`, `38.2%`, `14.2 GPa`."""
        space = "" if self.unit in ("", "%") else " "
        return f"{value:.{self.decimals}f}{space}{self.unit}"

    def gap(self, one: float, other: float) -> str:
        """The absolute difference of two values in words: `3.1 points`, `1.4 GPa`."""
        unit = "points" if self.unit in ("", "%") else self.unit
        return f"{abs(round(one - other, self.decimals)):.{self.decimals}f} {unit}"

    def better(self, one: float, other: float) -> bool:
        """Whether value `one` is better than `other`."""
        return one > other if self.higher else one < other

    @property
    def article(self) -> str:
        """The metric with its indefinite article: `an F1`, `a hardness`."""
        return f"{'an' if self.name[0] in 'AEIOaeioF' else 'a'} {self.name}"


class Sweep(NamedTuple):
    """A quantity that is varied: its name, its unit and the five settings of it."""

    name: str
    unit: str
    settings: tuple[str, ...]

    def at(self, index: int) -> str:
        """Setting number `index` with its unit."""
        return f"{self.settings[index]} {self.unit}".strip()


class Field(NamedTuple):
    """One research field; `bed` is what systems are tested on, `system` what is tested."""

    key: str
    bed: str
    bed_plural: str
    system: str
    system_plural: str
    topics: tuple[str, ...]
    beds: tuple[str, ...]
    systems: tuple[str, ...]
    metrics: tuple[Metric, ...]
    sweeps: tuple[Sweep, ...]
    components: tuple[str, ...]
    mechanisms: tuple[str, ...]
    conditions: tuple[str, ...]
    subsets: tuple[str, ...]
    factors: tuple[str, ...]
    raters: str


LANGUAGE = Field(
    key="language",
    bed="dataset",
    bed_plural="datasets",
    system="model",
    system_plural="models",
    topics=(
        "coreference in long dialogues",
        "summarising council minutes",
        "detecting hedged claims",
        "translating recipes",
        "question answering over tax forms",
        "dating undated letters",
        "simplifying safety notices",
        "tagging code-switched chat",
        "linking names in ship logs",
        "generating crossword clues",
        "spotting copied reviews",
        "parsing spoken orders",
    ),
    beds=(
        "MarlQA",
        "FennoSum",
        "TideDial",
        "Östra-QA",
        "KilnBank",
        "ReedRoles",
        "PortoLex",
        "HedgeNet-7",
        "LumenArg",
        "CraneNews",
        "SaltFAQ",
        "Dovetail",
        "OrchardNLI",
        "QuillTax",
        "BræmChat",
        "PlinthMT",
        "WharfLog",
        "TallowTag",
    ),
    systems=(
        "Tessera-B",
        "Corvid-2",
        "PlainSeq",
        "Lantern-XL",
        "Moss-7B",
        "Harrow",
        "Kestrel-S",
        "Ibex-Chat",
        "Zephyrine",
        "Oriole-T",
        "DuneFormer",
        "Skiff",
        "Vesper-3",
        "Łoza-1",
        "Gantry",
        "NimbusRAG",
        "Thistle-L",
        "Polder",
    ),
    metrics=(
        Metric("F1", "", 48, 86, 1, True),
        Metric("accuracy", "%", 52, 91, 1, True),
        Metric("BLEU", "", 18, 39, 1, True),
        Metric("exact match", "%", 31, 74, 1, True),
        Metric("ROUGE-L", "", 24, 47, 1, True),
        Metric("perplexity", "", 9, 34, 1, False),
        Metric("word error rate", "%", 6, 24, 1, False),
        Metric("recall", "%", 45, 88, 1, True),
    ),
    sweeps=(
        Sweep("training set size", "thousand examples", ("2", "5", "10", "20", "50")),
        Sweep("number of retrieved passages", "passages", ("1", "3", "5", "10", "20")),
        Sweep("context length", "tokens", ("256", "512", "1024", "2048", "4096")),
        Sweep("number of demonstrations", "demonstrations", ("0", "2", "4", "8", "16")),
    ),
    components=(
        "span pointer",
        "gated memory",
        "label smoother",
        "copy head",
        "date normaliser",
        "contrastive loss",
        "length penalty",
        "entity cache",
    ),
    mechanisms=(
        "early mentions stay within reach of the decoder",
        "the encoder separates topic from style",
        "rare names are copied instead of guessed",
        "attention settles on verbs before their arguments",
        "the softer targets keep it from memorising annotator noise",
        "long inputs are compressed before they are ranked",
        "negation is resolved in the lower layers",
        "the retriever filters out passages with a stale date",
    ),
    conditions=(
        "in every language",
        "regardless of prompt wording",
        "for all model sizes",
        "under any decoding budget",
        "across all document lengths",
        "for every annotator group",
        "in all domains",
    ),
    subsets=(
        "documents under 500 words",
        "questions with one answer",
        "turns by native speakers",
        "texts printed after 1950",
        "sentences without negation",
        "entries that two people had labelled",
    ),
    factors=("sentence length", "annotator experience", "vocabulary overlap", "the age of the text", "tokeniser size"),
    raters="annotators",
)

SYSTEMS = Field(
    key="systems",
    bed="workload",
    bed_plural="workloads",
    system="scheduler",
    system_plural="schedulers",
    topics=(
        "scheduling short batch jobs",
        "caching map tiles",
        "compressing sensor logs",
        "routing drone messages",
        "placing replicas in small clusters",
        "prefetching video segments",
        "balancing print queues",
        "recovering from partial outages",
    ),
    beds=(
        "HarborTrace",
        "NightBatch",
        "PicoGrid",
        "TramLog-5",
        "Ferrule",
        "OpalStream",
        "CedarMix",
        "BurstKit",
        "Møllebench",
        "SluiceLoad",
        "AtticWeb",
        "RookTrace",
        "GlassTile",
        "Kumquat-10",
    ),
    systems=(
        "Turnstile",
        "EddyQ",
        "FairPlay-2",
        "Rondel",
        "SlackFirst",
        "Ogive",
        "Barge",
        "Señal",
        "TwinLane",
        "Plover",
        "Knotwork",
        "DrumMajor",
        "Cistern",
        "Halyard",
    ),
    metrics=(
        Metric("throughput", "kops/s", 120, 480, 0, True),
        Metric("hit rate", "%", 41, 93, 1, True),
        Metric("tail latency", "ms", 14, 96, 1, False),
        Metric("utilisation", "%", 38, 88, 1, True),
        Metric("energy per job", "J", 3, 19, 1, False),
        Metric("median latency", "ms", 4, 31, 1, False),
    ),
    sweeps=(
        Sweep("number of nodes", "nodes", ("4", "8", "16", "32", "64")),
        Sweep("cache size", "GB", ("1", "2", "4", "8", "16")),
        Sweep("request rate", "thousand requests/s", ("10", "20", "40", "60", "80")),
    ),
    components=("admission filter", "twin queue", "lease table", "backoff timer", "hot-key sketch", "rate limiter"),
    mechanisms=(
        "short jobs no longer wait behind long ones",
        "stale leases are dropped before they block a writer",
        "hot keys are spread over neighbouring nodes",
        "retries are merged before they reach the disk",
        "bursts are absorbed by the second queue",
        "idle nodes steal work before the queue fills",
    ),
    conditions=(
        "at any cluster size",
        "regardless of the network",
        "for every tenant",
        "under all failure patterns",
        "on any hardware",
        "for all request mixes",
    ),
    subsets=(
        "jobs under ten seconds",
        "read-only requests",
        "nodes in one rack",
        "traffic outside office hours",
        "files below one megabyte",
    ),
    factors=("queue depth", "key skew", "operator experience", "disk age", "packet loss"),
    raters="operators",
)

MATERIALS = Field(
    key="materials",
    bed="substrate",
    bed_plural="substrates",
    system="coating",
    system_plural="coatings",
    topics=(
        "protecting pump shafts from brine",
        "anti-icing films for turbine blades",
        "wear of ceramic bearings",
        "sealing porous castings",
        "solid lubricants for cold gears",
        "oxide barriers for hot ducts",
        "self-healing varnish on bridges",
        "charge storage in layered films",
    ),
    beds=(
        "Orla-9",
        "Brenn-2",
        "Carrick steel",
        "Vint-40",
        "Skarn alloy",
        "Tolmin glass",
        "Fjær-3",
        "Mundo-K",
        "Hexal-6",
        "Ostrava-5",
        "Pell-12",
        "Rivane",
        "Quenby-8",
        "Lodestar-1",
    ),
    systems=(
        "Velan-3",
        "NiCrosil-X",
        "Duraphene",
        "Aurelite",
        "Zirkona",
        "Basalt-N",
        "Cobrine",
        "Siloxar",
        "Täfel-2",
        "Mirnite",
        "Ferrovane",
        "Grisol",
        "Halcyte",
        "Pyrolan-5",
    ),
    metrics=(
        Metric("hardness", "GPa", 6, 24, 1, True),
        Metric("adhesion strength", "MPa", 18, 62, 1, True),
        Metric("wear rate", "µm/h", 2, 17, 1, False),
        Metric("charge retention", "%", 55, 96, 1, True),
        Metric("friction coefficient", "", 0.08, 0.62, 2, False),
        Metric("bending strength", "MPa", 20, 70, 1, True),
        Metric("corrosion rate", "µm/h", 1, 12, 1, False),
        Metric("transparency", "%", 51, 94, 1, True),
    ),
    sweeps=(
        Sweep("annealing temperature", "°C", ("300", "400", "500", "600", "700")),
        Sweep("film thickness", "nm", ("50", "100", "200", "400", "800")),
        Sweep("dopant content", "at.%", ("0.5", "1.0", "2.0", "4.0", "6.0")),
    ),
    components=(
        "nitride interlayer",
        "silane primer",
        "laser texturing step",
        "cerium dopant",
        "slow-cooling step",
        "graphene top layer",
    ),
    mechanisms=(
        "dopant atoms pin the grain boundaries",
        "the interlayer absorbs thermal mismatch",
        "closed pores stop the inward diffusion of chloride",
        "oxide islands merge into a dense skin",
        "residual stress turns compressive near the surface",
        "water is repelled before ice can nucleate",
    ),
    conditions=(
        "in any climate",
        "for all part geometries",
        "regardless of surface roughness",
        "under every load",
        "at all service temperatures",
        "for every supplier batch",
    ),
    subsets=(
        "samples polished before coating",
        "dry test runs",
        "films below 200 nm",
        "parts with rounded edges",
        "plates cut from the first batch",
    ),
    factors=("surface roughness", "oxygen content", "cooling speed", "grain size", "storage time"),
    raters="test engineers",
)

MEDICINE = Field(
    key="medicine",
    bed="cohort",
    bed_plural="cohorts",
    system="risk score",
    system_plural="risk scores",
    topics=(
        "predicting readmission after knee surgery",
        "early signs of sepsis in wards",
        "screening for sleep apnoea at home",
        "wound healing after burns",
        "relapse in childhood asthma",
        "dosing of blood thinners",
        "falls among older inpatients",
        "kidney decline in diabetes",
    ),
    beds=(
        "Halden-C",
        "Brackwater",
        "MERIDA-2",
        "Sonnblick",
        "Tarn Valley",
        "Ostfold-1",
        "NORA-Kids",
        "Caldera",
        "Lindholm-B",
        "Pine Ward",
        "RÍO-4",
        "Eastmarch",
        "Juniper-6",
        "Wexcombe",
    ),
    systems=(
        "NephroLine",
        "CardiSum",
        "WardWatch",
        "Q-Frail",
        "PulmoGrade",
        "VitaTree",
        "SepsiLite",
        "Ångra",
        "HemaStep",
        "TriagePlus",
        "OsteoMap",
        "LactoSign",
        "Renova-5",
        "BreathIndex",
    ),
    metrics=(
        Metric("AUROC", "", 0.58, 0.93, 2, True),
        Metric("sensitivity", "%", 48, 93, 1, True),
        Metric("specificity", "%", 51, 95, 1, True),
        Metric("Brier score", "", 0.06, 0.27, 2, False),
        Metric("false alarm rate", "%", 4, 29, 1, False),
        Metric("C-index", "", 0.55, 0.89, 2, True),
    ),
    sweeps=(
        Sweep("follow-up time", "days", ("7", "14", "30", "60", "90")),
        Sweep("number of lab values", "values", ("2", "4", "6", "8", "12")),
        Sweep("observation window", "hours", ("6", "12", "24", "48", "72")),
    ),
    components=(
        "lactate term",
        "missing-value flag",
        "night-time weighting",
        "age spline",
        "nurse-note channel",
        "trend feature",
    ),
    mechanisms=(
        "night-time readings carry less movement noise",
        "rising lactate precedes the drop in blood pressure",
        "missing values reflect how worried the staff is",
        "inflammation markers peak before the fever",
        "frail patients move less in the first two days",
        "renal clearance slows before creatinine climbs",
    ),
    conditions=(
        "in all age groups",
        "regardless of sex",
        "in every hospital",
        "for any ethnicity",
        "at all disease stages",
        "for patients on any medication",
    ),
    subsets=(
        "patients over 65",
        "non-smokers",
        "stays longer than three days",
        "elective admissions",
        "patients without diabetes",
    ),
    factors=("body weight", "time since surgery", "staffing level", "baseline creatinine", "sleep duration"),
    raters="clinicians",
)

FIELDS = (LANGUAGE, SYSTEMS, MATERIALS, MEDICINE)
FIELD_WEIGHTS = (5, 2, 3, 3)

AUTHORS = (
    "Oduya",
    "Brandvold",
    "Ilic",
    "Tamsin",
    "Quiroga",
    "Haverkamp",
    "Nakatomi",
    "Szoke",
    "Delacroix-Ume",
    "Farrukh",
    "Wintle",
    "Aalto-Reyes",
    "Mbeki-Strand",
    "Pryce",
    "Lindqvist-Oh",
    "Corrigan-Vale",
)
