"""What `make run` does: start a control plane in the background, apply the quick start, see its page."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pathlib
import subprocess
import sys
import time
from typing import Any

from crossply.errors import CrossplyError

ROOT = pathlib.Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "00-quick-start"
PROVIDER = ROOT / "providers" / "local"
DATA = pathlib.Path(os.environ.get("CROSSPLY_QUICK_START_DATA", ROOT / ".crossply"))
CROSSPLY = os.path.join(os.path.dirname(sys.executable), "crossply")
FILES = ("provider", "functions", "definition", "composition", "xr")
MANAGER = "quick-start"
LOCAL = "local.crossply.dev/v1alpha1"
KINDS_SECONDS, READY_SECONDS = 60, 60

NEXT = """
Open {url} in a browser, or: curl {url}

See the control plane in the browser: {dashboard}

The control plane keeps running. Try next:
  export KUBECONFIG={kubeconfig}
  # See what was composed. Any kubectl will do.
  kubectl get website,directory,file,webserver
  {crossply} trace website/hello
  # Edit the Website: the open page changes.
  kubectl patch website hello --type merge -p '{{"spec":{{"greeting":"Good evening"}}}}'
  # Delete the file or end the web server: both come back in seconds.
  rm {page}
  kill $(kubectl get webserver -o jsonpath='{{.items[0].status.atProvider.processID}}')
  # See what the Composition makes of a Website, without a control plane.
  {crossply} render {example}/xr.yaml {example}/composition.yaml {example}/functions.yaml
  # Delete the Website: the port closes, and the file is gone.
  kubectl delete website hello
Without kubectl, edit {example}/xr.yaml and run make run again.
Stop the control plane with:
  make stop"""


def main() -> int:
    if not is_running():
        print("Starting a control plane in the background ...", flush=True)
        up = [CROSSPLY, "up", "--detach", "--data", str(DATA), f"--allow-local-functions={PROVIDER}"]
        # provider.yaml names the provider's directory as it is seen from the example's.
        if subprocess.run(up, cwd=EXAMPLE, check=False, stdout=subprocess.DEVNULL).returncode:
            return 1
    return asyncio.run(apply_and_watch())


def is_running() -> bool:
    from crossply.cli.local_control_plane.lock import running

    return DATA.is_dir() and running(str(DATA)) is not None


async def apply_and_watch() -> int:
    from crossply.kube.client import Client
    from crossply.kube.config import load_config
    from crossply.kube.discovery import Discovery
    from crossply.values.yaml import read_stream

    async with Client(load_config(str(DATA / "kubeconfig"))) as client:
        discovery = Discovery(client)
        for name in FILES:
            for document in read_stream((EXAMPLE / f"{name}.yaml").read_bytes()):
                if name == "xr":
                    await installed(discovery)
                await apply(client, discovery, document.value)
        website = await ready_website(client, discovery)
        if website is None:
            return explain()
        show(website, await page_path(client, discovery, website))
    return 0


async def apply(client: Any, discovery: Any, obj: Any) -> None:
    """Apply one object; a kind that was defined a moment ago may not be served yet."""
    deadline = time.monotonic() + KINDS_SECONDS
    while True:
        try:
            kind = await discovery.kind_for(obj["apiVersion"], obj["kind"])
            await client.apply(kind, obj, MANAGER)
            print(f"applied {obj['kind']} {obj['metadata']['name']}", flush=True)
            return
        except CrossplyError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.1)


async def installed(discovery: Any) -> None:
    """Wait for the kinds of the provider: without them, the first attempt to compose a Website fails."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(KINDS_SECONDS):
            while not await is_served(discovery):
                await asyncio.sleep(0.1)


async def is_served(discovery: Any) -> bool:
    try:
        await discovery.kind_for(LOCAL, "WebServer")
    except CrossplyError:
        return False
    return True


async def ready_website(client: Any, discovery: Any) -> Any:
    """The Website once it is Ready and its page is served; None where that takes too long."""
    kind = await discovery.kind_for("quickstart.example.org/v1", "Website")
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        website = await client.get(kind, "hello", "default")
        status = (website or {}).get("status") or {}
        if is_ready(status) and await asyncio.to_thread(is_answering, status.get("url", "")):
            return website
        await asyncio.sleep(0.1)
    return None


def is_answering(url: str) -> bool:
    """Whether there is a page. After a restart, the status says Ready before the web server is back."""
    import urllib.request

    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except (OSError, ValueError):
        return False


def is_ready(status: Any) -> bool:
    conditions = status.get("conditions") or ()
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


async def page_path(client: Any, discovery: Any, website: Any) -> str:
    (name,) = [ref["name"] for ref in website["spec"]["crossplane"]["resourceRefs"] if ref["kind"] == "File"]
    file = await client.get(await discovery.kind_for(LOCAL, "File"), name, "default")
    return str(file["status"]["atProvider"]["path"])


def show(website: Any, page: str) -> None:
    from crossply.cli.up.dashboard_flags import offered_address

    url = website["status"]["url"]
    print(f"\nWebsite hello is Ready at {url}. It is made of:")
    for ref in website["spec"]["crossplane"]["resourceRefs"]:
        print(f"  {ref['kind']} {ref['name']}")
    crossply, example, page = map(short, (CROSSPLY, EXAMPLE, page))
    kubeconfig = DATA / "kubeconfig"
    dashboard = offered_address(str(DATA)) or f"run {crossply} ui --kubeconfig {kubeconfig}"
    print(
        NEXT.format(
            dashboard=dashboard, url=url, page=page, kubeconfig=kubeconfig, crossply=crossply, example=example
        )
    )


def short(path: str | pathlib.Path) -> str:
    """A path as it is seen from here, where it is below."""
    here = f"{pathlib.Path.cwd()}{os.sep}"
    return str(path).removeprefix(here)


def explain() -> int:
    """Say why the Website is not Ready."""
    print("The quick start did not become Ready:", file=sys.stderr)
    environment = {**os.environ, "KUBECONFIG": str(DATA / "kubeconfig")}
    for resource in ("provider/provider-local", "website/hello"):
        subprocess.run([CROSSPLY, "trace", resource], env=environment, check=False, stdout=sys.stderr)
    print(f"The log of the control plane is {DATA / 'up.log'}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
