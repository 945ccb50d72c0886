"""Study files: TOML or YAML in, a study out, and errors that say where and what."""

from elastic_consistency.studies.files.errors import StudyFileError as StudyFileError
from elastic_consistency.studies.files.study_file import load_study as load_study
