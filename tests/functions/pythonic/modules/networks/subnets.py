from crossplane.pythonic import BaseComposite

from . import ZONES
from .naming import subnet_name


class SubnetsComposite(BaseComposite):
    def compose(self):
        for zone in ZONES:
            subnet = self.resources[subnet_name(zone)]("net.example.org/v1", "Subnet")
            subnet.spec.zone = f"{self.parameters.region}-{zone}"


class LabelledSubnetsComposite(SubnetsComposite):
    def compose(self):
        super().compose()
        for name, subnet in self.resources:
            subnet.metadata.labels.team = self.spec.team
            subnet.metadata.labels["example.org/name"] = name


class NotAComposite:
    pass


not_a_class = ZONES
