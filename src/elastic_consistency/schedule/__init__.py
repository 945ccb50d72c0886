"""The schedule: the one intermediate representation of simulation, execution and replay."""

from elastic_consistency.schedule.errors import ScheduleError as ScheduleError
from elastic_consistency.schedule.ops import ABSENT as ABSENT
from elastic_consistency.schedule.ops import SERVER as SERVER
from elastic_consistency.schedule.ops import WHOLE_MODEL as WHOLE_MODEL
from elastic_consistency.schedule.ops import Op as Op
from elastic_consistency.schedule.recorder import Recorder as Recorder
from elastic_consistency.schedule.table import Annotation as Annotation
from elastic_consistency.schedule.table import Decision as Decision
from elastic_consistency.schedule.table import Jobs as Jobs
from elastic_consistency.schedule.table import Messages as Messages
from elastic_consistency.schedule.table import Metadata as Metadata
from elastic_consistency.schedule.table import Rows as Rows
from elastic_consistency.schedule.table import Schedule as Schedule
