"""The functions of bench/sdk.py, written with crossply.sdk."""

from __future__ import annotations

from crossply.sdk import Request, Response, function


@function
def trivial(req: Request, rsp: Response) -> None:
    rsp.normal(f"hello {req.xr.name}")


@function
def fifty(req: Request, rsp: Response) -> None:
    spec = req.xr["spec"]
    for number in range(int(spec["count"])):
        name = f"instance-{number}"
        rsp.desired[name] = {
            "apiVersion": "ec2.aws.example.org/v1beta1",
            "kind": "Instance",
            "metadata": {
                "labels": {"team": spec["team"], "number": str(number)},
                "annotations": {"example.org/external-name": f"{req.xr.name}-{number}"},
            },
            "spec": {
                "deletionPolicy": "Delete",
                "providerConfigRef": {"name": "default"},
                "forProvider": {
                    "region": spec["region"],
                    "instanceType": spec["size"],
                    "ami": "ami-0abcdef1234567890",
                    "monitoring": True,
                    "cpuCoreCount": 4,
                    "rootBlockDevice": [{"volumeSize": 20 + number, "volumeType": "gp3", "encrypted": True}],
                    "tags": {"Name": f"{req.xr.name}-{number}", "managed-by": "composition"},
                },
            },
        }
        observed = req.observed.get(name)
        if observed is not None and observed.is_ready():
            rsp.desired[name].ready = True
    rsp.xr.status["instances"] = spec["count"]
