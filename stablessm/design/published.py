"""Published results of whole models by map, to stand beside what is proved about the maps.

Wang and Li, StableSSM: Alleviating the Curse of Memory in State-space Models through Stable Reparameterization (ICML
2024, arXiv 2311.14495): a Hyena model of 120 million parameters whose recurrence is an S5 layer, on WikiText-103, one
run each; perplexities after 115 000 steps.
"""

SOURCE = "Wang and Li, StableSSM (ICML 2024), WikiText-103, 120M parameters, one run each"

PERPLEXITY: dict[str, tuple[float, float]] = {
    "direct": (18.916, 28.167),
    "exp": (15.721, 20.218),
    "softplus": (14.570, 20.136),
    "best": (17.182, 20.811),
}
"""(train, test) perplexity by map."""
