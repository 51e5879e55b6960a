# What `snakemake --report` says of each result: the keywords of report(), and what captions (*.rst) are filled from.

EVERYTHING = "All papers"


class About(dict):
    """What captions say. Nothing is read, and pandas not imported, before a report is made.

    A mapping, if an empty one: Snakemake takes a checksum of its config, which holds this.
    """

    def scale(self):
        from hypersphere.present import captions

        return captions.of_scale(PLAN)

    def artifact(self, paper, artifact):
        from hypersphere.present import captions

        return captions.of_artifact(PLAN, paper, artifact)

    def studies(self, paper):
        from hypersphere.present import captions

        return captions.of_studies(PLAN, paper)

    def in_short(self):
        from hypersphere.present import captions

        return captions.in_short(PLAN)


# Captions see Snakemake's config, and nothing else of the workflow. The command's settings are taken from it before.
config["about"] = About()


def shown_artifact(paper, artifact, path):
    """One file of an artifact made from runs, as the report lists it: under its paper, and there under its kind."""
    folder = path.parent.parent.name
    return _reported(paper, artifact, path, "table" if folder == "tables" else "figure", config["about"].in_short)


def shown_study(paper, path):
    """One file of an exact study's artifact."""
    return _reported(paper, path.stem, path, "studies", lambda: "published size")


def _reported(paper, artifact, path, caption, scale):
    if path.suffix in (".tex", ".png"):  # the same in another form
        return local(path)
    return report(
        local(path),
        caption=f"../report/{caption}.rst",
        category=PLAN.config.papers[paper].title,
        subcategory=path.parent.parent.name.capitalize(),
        labels=lambda wildcards: {"artifact": artifact, "file": path.suffix.removeprefix("."), "scale": scale()},
    )


def claims_of(paper):
    """Digest of a paper's published numbers: people edit them, so that their time says nothing."""
    return provenance.file_digest(f"paper/claims/{paper}.csv")


def shown_once(name):
    """Keywords of report() for what all papers share."""
    return {
        "caption": f"../report/{name}.rst",
        "category": EVERYTHING,
        "labels": lambda wildcards: {"document": name, "scale": config["about"].in_short()},
    }


report: "workflow.rst"
