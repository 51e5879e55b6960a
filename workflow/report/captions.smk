# What `snakemake --report` says of each result: the keywords of report(), and what captions (*.rst) are filled from.

EVERYTHING = "All papers"


class About(dict):
    """What captions say. Nothing is read, and pandas not imported, before a report is made.

    A mapping, if an empty one: Snakemake takes a checksum of its config, which holds this.
    """

    def scale(self):
        from hypersphere.present import captions

        return captions.of_scale(PLAN.config)

    def artifact(self, wildcards):
        from hypersphere.present import captions

        return captions.of_artifact(PLAN.config, wildcards.paper, wildcards.artifact)

    def size_of(self, wildcards):
        studied = wildcards.artifact in PLAN.config.studied(wildcards.paper)
        return "published size" if studied else self.in_short()

    def in_short(self):
        from hypersphere.present import captions

        return captions.in_short(PLAN.config)


# Captions see Snakemake's config, and nothing else of the workflow. The command's settings are taken from it before.
config["about"] = About()


def shown(kind, form):
    """Keywords of report() for one file of a table or figure: under its paper, and there under its kind."""
    return {
        "caption": f"../report/{kind}.rst",
        "category": lambda wildcards: PLAN.config.papers[wildcards.paper].title,
        "subcategory": f"{kind.capitalize()}s",
        "labels": lambda wildcards: {
            "artifact": wildcards.artifact,
            "file": form,
            "scale": config["about"].size_of(wildcards),
        },
    }


def shown_once(name):
    """Keywords of report() for what all papers share."""
    return {
        "caption": f"../report/{name}.rst",
        "category": EVERYTHING,
        "labels": lambda wildcards: {"document": name, "scale": config["about"].in_short()},
    }


report: "workflow.rst"
