# Captions of the results in `snakemake --report`: the keywords of report(), and the texts for *.rst.

EVERYTHING = "All papers"


class About(dict):
    """Texts of captions. No result is read, and pandas is not imported, before a report is made.

    It is a mapping, though an empty one, because Snakemake computes a checksum of its config, which holds it.
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


# Captions can read Snakemake's config and nothing else of the workflow. The command's settings are read before.
config["about"] = About()


def shown_artifact(paper, artifact, path):
    """One file of an artifact made from runs, which the report lists by paper and kind."""
    folder = path.parent.parent.name
    return _reported(paper, artifact, path, "table" if folder == "tables" else "figure", config["about"].in_short)


def shown_study(paper, path):
    """One file of an exact study's artifact."""
    return _reported(paper, path.stem, path, "studies", lambda: "published size")


def _reported(paper, artifact, path, caption, scale):
    if path.suffix in (".tex", ".png"):  # another form of the same result
        return local(path)
    return report(
        local(path),
        caption=f"../report/{caption}.rst",
        category=PLAN.config.papers[paper].title,
        subcategory=path.parent.parent.name.capitalize(),
        labels=lambda wildcards: {"artifact": artifact, "file": path.suffix.removeprefix("."), "scale": scale()},
    )


def claims_of(paper):
    """Digest of a paper's published numbers; people edit the file, so its modification time says nothing."""
    return provenance.file_digest(f"paper/claims/{paper}.csv")


def shown_once(name):
    """Keywords of report() for a result of all papers."""
    return {
        "caption": f"../report/{name}.rst",
        "category": EVERYTHING,
        "labels": lambda wildcards: {"document": name, "scale": config["about"].in_short()},
    }


report: "workflow.rst"
