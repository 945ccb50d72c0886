"""`python -m elastic_consistency` is the command `elastic`."""

from elastic_consistency.cli import command

if __name__ == "__main__":
    command()
