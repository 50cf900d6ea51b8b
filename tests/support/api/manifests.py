"""What kubectl is given to apply, and what it reads of that."""

from __future__ import annotations

import json
from typing import Any

CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: one
data:
  a: "1"
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: nginx:1
"""


def read(kubectl: Any, *words: str) -> Any:
    return json.loads(kubectl.run("get", *words, "-o", "json"))
