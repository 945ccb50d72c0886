"""The papers, reproduced: claims as data, experiments, verdicts, a table and a page."""
