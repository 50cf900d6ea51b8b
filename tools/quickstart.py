"""What `make run` does: start a control plane in the background, apply the quick start, see it Ready."""

from __future__ import annotations

import asyncio
import os
import pathlib
import subprocess
import sys
from typing import Any

from crossply.errors import CrossplyError

ROOT = pathlib.Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "00-quick-start"
DATA = pathlib.Path(os.environ.get("CROSSPLY_QUICK_START_DATA", ROOT / ".crossply"))
CROSSPLY = os.path.join(os.path.dirname(sys.executable), "crossply")
MANAGER = "quick-start"

NEXT = """
The control plane keeps running. Try next:
  export KUBECONFIG={kubeconfig}
  kubectl get site,configmap -n default          # what was composed (any kubectl will do)
  kubectl delete configmap -l crossplane.io/composite=hello    # it comes back at once
  kubectl patch site hello --type merge -p '{{"spec":{{"greeting":"Good morning"}}}}'
  {crossply} render {example}/xr.yaml {example}/composition.yaml {example}/functions.yaml
Stop it with:
  make stop"""


def main() -> int:
    print("Starting a control plane in the background ...", flush=True)
    up = [CROSSPLY, "up", "--detach", "--data", str(DATA)]
    if subprocess.run(up, check=False, stdout=subprocess.DEVNULL).returncode:
        return 1
    return asyncio.run(apply_and_watch())


async def apply_and_watch() -> int:
    from crossply.kube.client import Client
    from crossply.kube.config import load_config
    from crossply.kube.discovery import Discovery
    from crossply.values.yaml import read_stream

    async with Client(load_config(str(DATA / "kubeconfig"))) as client:
        discovery = Discovery(client)
        for name in ("definition", "composition", "functions", "xr"):
            for document in read_stream((EXAMPLE / f"{name}.yaml").read_bytes()):
                obj = document.value
                await apply(client, discovery, obj)
                print(f"applied {obj['kind']} {obj['metadata']['name']}", flush=True)
        kind = await discovery.kind_for("quickstart.example.org/v1", "Site")
        for _ in range(300):
            site = await client.get(kind, "hello", "default")
            if site is not None and is_ready(site):
                show(site)
                print(NEXT.format(kubeconfig=DATA / "kubeconfig", crossply=CROSSPLY, example=EXAMPLE))
                return 0
            await asyncio.sleep(0.1)
    print("the quick start did not become Ready; see .crossply/up.log", file=sys.stderr)
    return 1


async def apply(client: Any, discovery: Any, obj: Any) -> None:
    """Apply one object; a kind that was defined a moment ago may not be served yet."""
    for attempt in range(100):
        try:
            kind = await discovery.kind_for(obj["apiVersion"], obj["kind"])
            await client.apply(kind, obj, MANAGER)
            return
        except CrossplyError:
            if attempt == 99:
                raise
            await asyncio.sleep(0.1)


def is_ready(site: Any) -> bool:
    conditions = (site.get("status") or {}).get("conditions") or ()
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def show(site: Any) -> None:
    print("\nSite hello is Ready. It is made of:")
    for ref in site["spec"]["crossplane"]["resourceRefs"]:
        print(f"  {ref['kind']} {ref['name']}")


if __name__ == "__main__":
    sys.exit(main())
