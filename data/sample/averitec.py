"""AVeriTeC: invented towns, their pages, and claims about them. Claims of a town stand on one side of the split."""

from __future__ import annotations

from random import Random
from typing import Any

SPLITS = {"train": 4, "dev": 2, "test": 2}  # towns
OTHERS = 3  # towns whose pages stand beside a claim's own
SUPPORTED, REFUTED = "Supported", "Refuted"
NOT_ENOUGH, CONFLICTING = "Not Enough Evidence", "Conflicting Evidence/Cherrypicking"
Record = dict[str, Any]
# Of each town: pages by their names; and claims, each with speaker, type and label, and questions with answer and page.
TOWNS: list[tuple[dict[str, str], list[tuple[Any, ...]]]] = [
    (
        {
            "harrow-dale.example/ferry": "The Harrow Dale ferry carried 214,000 passengers in 2019, the harbour office "
            "reports. In 2018 it had carried 231,000. Fares were raised in both years.",
            "dale-courier.example/ferry-strike": "Crews of the Harrow Dale ferry went on strike for nine days in June "
            "2019. The strike ended when the operator agreed to a fifth crew for night sailings.",
            "harrow-dale.example/budget": "Harrow Dale spent 1.2 million crowns on its quay in 2019. No money of the "
            "town went to the ferry, which is run by a private operator.",
        },
        [
            ("The Harrow Dale ferry lost passengers in 2019.", "Mirela Toth", "Numerical Claim", SUPPORTED, [
                ("How many passengers did the Harrow Dale ferry carry in 2019 and 2018?",
                 "It carried 214,000 passengers in 2019, after 231,000 in 2018.", "harrow-dale.example/ferry"),
            ]),
            ("Harrow Dale pays the ferry company a million crowns a year.", "Jon Askew", "Numerical Claim", REFUTED, [
                ("Does the town of Harrow Dale pay for the ferry?",
                 "No money of the town went to the ferry, which is run by a private operator.",
                 "harrow-dale.example/budget"),
                ("What did Harrow Dale spend 1.2 million crowns on?", "It was spent on the quay.",
                 "harrow-dale.example/budget"),
            ]),
            ("The ferry strike in Harrow Dale was about wages.", "a leaflet", "Causal Claim", REFUTED, [
                ("How did the strike of the Harrow Dale ferry crews end?",
                 "It ended when the operator agreed to a fifth crew for night sailings.",
                 "dale-courier.example/ferry-strike"),
            ]),
        ],
    ),
    (
        {
            "ostrava-lake.example/water": "The Lindmark waterworks tested 480 samples in 2021. Lead was below the limit "
            "in all of them; nitrate was above the limit in eleven samples, all from two wells.",
            "lindmark-post.example/wells": "Two wells north of Lindmark were closed in October 2021 because of nitrate. "
            "Farmers dispute that their fields are the cause; a study is to report in 2023.",
            "lindmark.example/council": "The council of Lindmark voted in 2022 to connect the northern farms to the "
            "town's main. Work is to begin in spring.",
        },
        [
            ("Lindmark's tap water contained too much lead in 2021.", None, "Event/Property Claim", REFUTED, [
                ("How much lead was in the water of Lindmark in 2021?",
                 "Lead was below the limit in all of the 480 samples that were tested in 2021.",
                 "ostrava-lake.example/water"),
            ]),
            ("Farming caused the nitrate in Lindmark's wells.", "Clean Wells Lindmark", "Causal Claim", NOT_ENOUGH, [
                ("What caused the nitrate in the wells north of Lindmark?",
                 "Farmers dispute that their fields are the cause; a study is to report in 2023.",
                 "lindmark-post.example/wells"),
            ]),
            ("Two wells north of Lindmark were closed in 2021.", "Ada Brenner", "Event/Property Claim", SUPPORTED, [
                ("Were wells closed near Lindmark in 2021?",
                 "Two wells north of Lindmark were closed in October 2021 because of nitrate.",
                 "lindmark-post.example/wells"),
            ]),
        ],
    ),
    (
        {
            "quillport.example/library": "The Quillport library lent 88,000 books in 2022, and 61,000 in 2021, when it "
            "was closed for four months. In 2019 it had lent 97,000.",
            "quillport-star.example/library": "Loans at the library have fallen for ten years, the Quillport Star "
            "reports. Visits have risen: 140,000 people came in 2022, more than ever before.",
            "quillport.example/staff": "Six librarians worked in Quillport in 2022, as in every year since 2015.",
        },
        [
            ("The Quillport library is more popular than ever.", "Mayor Oda Lind", "Event/Property Claim", CONFLICTING, [
                ("How many people visited the Quillport library in 2022?",
                 "140,000 people came in 2022, more than ever before.", "quillport-star.example/library"),
                ("How many books does the Quillport library lend?",
                 "It lent 88,000 books in 2022; in 2019 it had lent 97,000.", "quillport.example/library"),
            ]),
            ("Quillport dismissed half of its librarians.", "a chain message", "Numerical Claim", REFUTED, [
                ("How many librarians work in Quillport?",
                 "Six librarians worked in Quillport in 2022, as in every year since 2015.", "quillport.example/staff"),
            ]),
            ("The Quillport library was closed for months in 2021.", "Per Halvard", "Event/Property Claim", SUPPORTED, [
                ("Was the Quillport library closed in 2021?",
                 "It lent 61,000 books in 2021, when it was closed for four months.", "quillport.example/library"),
            ]),
        ],
    ),
    (
        {
            "tarn-rail.example/report": "Trains on the Tarn line were on time in 91 per cent of cases in 2020, when half "
            "of them did not run, and in 78 per cent of cases in 2021.",
            "tarn-rail.example/fares": "A single ticket on the Tarn line costs 4.20 crowns. The fare has not changed "
            "since 2016. Children under six travel free of charge.",
            "valley-news.example/tarn": "The minister opened the new station at Upper Tarn in May 2021. It cost 14 "
            "million crowns, two million less than planned.",
        },
        [
            ("Fares on the Tarn line doubled in five years.", "Passengers' Union", "Numerical Claim", REFUTED, [
                ("Has the fare on the Tarn line changed?",
                 "A single ticket costs 4.20 crowns; the fare has not changed since 2016.", "tarn-rail.example/fares"),
            ]),
            ("The station at Upper Tarn cost less than planned.", "the minister", "Numerical Claim", SUPPORTED, [
                ("What did the new station at Upper Tarn cost?",
                 "It cost 14 million crowns, two million less than planned.", "valley-news.example/tarn"),
            ]),
            ("Trains on the Tarn line have become more punctual.", "Tarn Rail", "Event/Property Claim", CONFLICTING, [
                ("How punctual were trains on the Tarn line?",
                 "They were on time in 91 per cent of cases in 2020, when half of them did not run, and in 78 per cent "
                 "of cases in 2021.", "tarn-rail.example/report"),
            ]),
        ],
    ),
    (
        {
            "velm.example/hospital": "The hospital of Velm has 210 beds. Its maternity ward was closed in March 2020 and "
            "opened again in September of that year.",
            "velm-bote.example/ward": "During the closure of the maternity ward, 190 women from Velm gave birth in "
            "Sandau, forty minutes away. No delivery on the road was recorded.",
            "velm.example/doctors": "Velm lost four of its nineteen family doctors between 2018 and 2022. Two practices "
            "found successors.",
        },
        [
            ("Velm has had no maternity ward since 2020.", "Karl Dorn", "Event/Property Claim", REFUTED, [
                ("Is there a maternity ward in Velm?",
                 "Its maternity ward was closed in March 2020 and opened again in September of that year.",
                 "velm.example/hospital"),
            ]),
            ("Women from Velm had to give birth in cars in 2020.", "a post", "Event/Property Claim", REFUTED, [
                ("Were there deliveries on the road when the ward of Velm was closed?",
                 "190 women from Velm gave birth in Sandau; no delivery on the road was recorded.",
                 "velm-bote.example/ward"),
            ]),
            ("Velm lost family doctors between 2018 and 2022.", "Ina Reuss", "Numerical Claim", SUPPORTED, [
                ("How many family doctors did Velm lose?",
                 "Velm lost four of its nineteen family doctors between 2018 and 2022.", "velm.example/doctors"),
            ]),
        ],
    ),
    (
        {
            "cape-orrin.example/turbines": "Eight wind turbines stand at Cape Orrin since 2017. In 2022 they produced 71 "
            "gigawatt hours, enough for 20,000 homes.",
            "orrin-birds.example/count": "Watchers counted 23 dead gulls below the turbines of Cape Orrin in 2022, and "
            "nine in 2021. How many were carried off by foxes is not known.",
            "orrin-echo.example/houses": "House prices in Cape Orrin rose by 12 per cent in 2022, as in the whole "
            "county.",
        },
        [
            ("Turbines at Cape Orrin kill thousands of gulls a year.", "Save Our Cape", "Numerical Claim", REFUTED, [
                ("How many gulls do the turbines of Cape Orrin kill?",
                 "Watchers counted 23 dead gulls below the turbines in 2022, and nine in 2021.",
                 "orrin-birds.example/count"),
            ]),
            ("Wind power lowered house prices in Cape Orrin.", "an estate agent", "Causal Claim", REFUTED, [
                ("How did house prices in Cape Orrin develop?",
                 "House prices in Cape Orrin rose by 12 per cent in 2022, as in the whole county.",
                 "orrin-echo.example/houses"),
            ]),
            ("Foxes carry off most gulls that die at Cape Orrin.", None, "Event/Property Claim", NOT_ENOUGH, [
                ("How many dead gulls are carried off by foxes at Cape Orrin?",
                 "How many were carried off by foxes is not known.", "orrin-birds.example/count"),
            ]),
        ],
    ),
    (
        {
            "brennick.example/school": "The schools of Brennick had 1,940 pupils in 2021 and 1,955 in 2022. A new school "
            "for 300 pupils opened in August 2022.",
            "brennick-mail.example/week": "The school board of Brennick voted five to two for a trial of the four-day "
            "week in March. In November it voted four to three against going on with it.",
            "brennick.example/meals": "School meals in Brennick are free for all pupils since 2020. The council pays 600 "
            "crowns a pupil and year.",
        },
        [
            ("Brennick's school board wants the four-day week.", "Parents United", "Position Statement", CONFLICTING, [
                ("How did the school board of Brennick vote on the four-day week?",
                 "It voted five to two for a trial in March.", "brennick-mail.example/week"),
                ("Did the trial of the four-day week in Brennick go on?",
                 "In November the board voted four to three against going on with it.", "brennick-mail.example/week"),
            ]),
            ("Parents in Brennick pay for school meals.", "a candidate", "Event/Property Claim", REFUTED, [
                ("Who pays for school meals in Brennick?",
                 "School meals are free for all pupils since 2020; the council pays 600 crowns a pupil and year.",
                 "brennick.example/meals"),
            ]),
            ("Brennick opened a new school in 2022.", "the council", "Event/Property Claim", SUPPORTED, [
                ("Did a new school open in Brennick?", "A new school for 300 pupils opened in August 2022.",
                 "brennick.example/school"),
            ]),
        ],
    ),
    (
        {
            "sollen.example/forest": "The forest of Sollen covers 5,200 hectares. In the dry summer of 2018 fire burnt "
            "340 hectares; all of these were planted again by 2021.",
            "sollen-tag.example/beetle": "Bark beetles killed about 90,000 spruces near Sollen from 2018 to 2020, the "
            "forestry office estimates. Beech and oak have been planted in their place.",
            "sollen.example/wolves": "Two packs of wolves live near Sollen. Farmers reported 14 dead sheep in 2022; "
            "tests found wolves to blame for five of them.",
        },
        [
            ("Half of the forest of Sollen burnt in 2018.", "a video", "Numerical Claim", REFUTED, [
                ("How much of the forest of Sollen burnt in 2018?",
                 "The forest covers 5,200 hectares; fire burnt 340 hectares in 2018.", "sollen.example/forest"),
            ]),
            ("Bark beetles killed tens of thousands of trees near Sollen.", "Eva Munk", "Numerical Claim", SUPPORTED, [
                ("How many trees did bark beetles kill near Sollen?",
                 "They killed about 90,000 spruces from 2018 to 2020, the forestry office estimates.",
                 "sollen-tag.example/beetle"),
            ]),
            ("Wolves killed 14 sheep near Sollen in 2022.", "Farmers of Sollen", "Numerical Claim", REFUTED, [
                ("How many sheep did wolves kill near Sollen in 2022?",
                 "Farmers reported 14 dead sheep; tests found wolves to blame for five of them.",
                 "sollen.example/wolves"),
            ]),
        ],
    ),
]  # fmt: skip


def splits(rng: Random) -> dict[str, list[Record]]:
    """The records of each split. A claim's documents are its town's pages among those of other towns."""
    made: dict[str, list[Record]] = {}
    first = 0
    for split, count in SPLITS.items():
        towns = range(first, first + count)
        made[split] = [record(rng, town, claim) for town in towns for claim in TOWNS[town][1]]
        first += count
    return made


def record(rng: Random, town: int, claim: tuple[Any, ...]) -> Record:
    """One claim with its documents and gold."""
    said, speaker, kind, label, asked = claim
    others = rng.sample([k for k in range(len(TOWNS)) if k != town], OTHERS)
    pages = [page for k in (town, *others) for page in TOWNS[k][0].items()]
    rng.shuffle(pages)
    return {
        "claim": said,
        "speaker": speaker,
        "claim_date": f"{rng.randint(1, 28)}-{rng.randint(1, 12)}-2023",
        "documents": [{"url": f"https://{name}", "text": text} for name, text in pages],
        "label": label,
        "questions": [
            {
                "question": question,
                "answers": [{"answer": answer, "answer_type": "Extractive", "source_url": f"https://{page}"}],
            }
            for question, answer, page in asked
        ],
        "claim_types": [kind],
        "justification": " ".join(answer for _, answer, _ in asked),
    }
