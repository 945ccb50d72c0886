"""The simulator: who meets whom, and when."""

from elastic_consistency.simulator.background import BackgroundTraffic as BackgroundTraffic
from elastic_consistency.simulator.cluster import Cluster as Cluster
from elastic_consistency.simulator.cluster import PeerLink as PeerLink
from elastic_consistency.simulator.cluster import SharedHost as SharedHost
from elastic_consistency.simulator.cluster import Worker as Worker
from elastic_consistency.simulator.collectives import Flat as Flat
from elastic_consistency.simulator.collectives import Ring as Ring
from elastic_consistency.simulator.collectives import Tree as Tree
from elastic_consistency.simulator.engine import simulate as simulate
from elastic_consistency.simulator.fault_script import Crash as Crash
from elastic_consistency.simulator.fault_script import FaultScript as FaultScript
from elastic_consistency.simulator.fault_script import LateStart as LateStart
from elastic_consistency.simulator.fault_script import Partition as Partition
from elastic_consistency.simulator.fault_script import RandomCrashes as RandomCrashes
from elastic_consistency.simulator.layer_profile import Layer as Layer
from elastic_consistency.simulator.layer_profile import LayerProfile as LayerProfile
from elastic_consistency.simulator.links import Link as Link
from elastic_consistency.simulator.losses import GilbertElliott as GilbertElliott
from elastic_consistency.simulator.overlap import OverlapGain as OverlapGain
from elastic_consistency.simulator.overlap import ideal_overlap as ideal_overlap
from elastic_consistency.simulator.payload import Payload as Payload
from elastic_consistency.simulator.stall import StallError as StallError
from elastic_consistency.simulator.stall import Wait as Wait
from elastic_consistency.simulator.topology import Graph as Graph
from elastic_consistency.simulator.topology import OnePeerExponential as OnePeerExponential
from elastic_consistency.simulator.until import Until as Until
