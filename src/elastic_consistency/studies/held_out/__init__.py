"""Live runs predicted by a simulation that was fitted to another live run."""

from elastic_consistency.studies.held_out.counterpart import Counterpart as Counterpart
from elastic_consistency.studies.held_out.counterpart import counterpart_of as counterpart_of
from elastic_consistency.studies.held_out.figures import Figures as Figures
from elastic_consistency.studies.held_out.figures import figures_of as figures_of
from elastic_consistency.studies.held_out.phases import Phases as Phases
from elastic_consistency.studies.held_out.phases import phases_of as phases_of
from elastic_consistency.studies.held_out.prediction import PREDICTABLE as PREDICTABLE
from elastic_consistency.studies.held_out.prediction import Prediction as Prediction
from elastic_consistency.studies.held_out.prediction import predict_held_out as predict_held_out
from elastic_consistency.studies.held_out.prediction import predicted as predicted
