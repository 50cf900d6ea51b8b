"""What `make run` does: render the quick start, and say what to try next.

The control plane is not part of this version, so nothing keeps running afterwards.
"""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXAMPLE = os.path.join("examples", "02-patch-and-transform")
CROSSPLY = os.path.join(os.path.dirname(sys.executable), "crossply")

NEXT = """
That was rendered without Docker and without a cluster, by the engine that will run in the control plane.
(This version has no control plane yet: nothing keeps running, so there is nothing to stop.)

Try next, from this directory:
  {shown} render --help
  {shown} render {example}/xr.yaml {example}/composition.yaml {example}/functions.yaml --watch
  {shown} validate {example}/xrd.yaml {example}/xr.yaml
  {shown} xrd convert {example}/xrd.yaml
More examples are in examples/, and docs/tutorial/first-composition.md walks through one."""


def main() -> int:
    shown = os.path.relpath(CROSSPLY, ROOT)
    files = [f"{EXAMPLE}/{name}.yaml" for name in ("xr", "composition", "functions")]
    print("The quick start: one composite resource, and what a Composition makes of it.\n")
    print(f"$ {shown} render {' '.join(files)}", flush=True)
    done = subprocess.run([CROSSPLY, "render", *files], cwd=ROOT, check=False)
    if done.returncode:
        return done.returncode
    print(NEXT.format(shown=shown, example=EXAMPLE))
    return 0


if __name__ == "__main__":
    sys.exit(main())
