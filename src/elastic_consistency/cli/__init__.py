"""The command line: `elastic VERB`; what is heavy is imported inside the verbs."""

from elastic_consistency.cli.application import main as main
