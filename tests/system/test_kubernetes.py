"""The manifests: they render, are valid, keep to what they promise, and the Deployment runs."""

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from tests.api.conftest import ROOT, free_port
from tests.system.containers import DOCKERFILE, IMAGE, START_TIMEOUT_S, podman

BASE = ROOT / "deploy/kubernetes/base"
PRODUCTION = ROOT / "deploy/kubernetes/overlays/production"
TOOLS = Path(sys.executable).parent  # kubectl and kubernetes-validate are of the environment


def rendered(folder: Path) -> str:
    command = [TOOLS / "kubectl", "kustomize", folder]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def manifests(folder: Path) -> dict[str, dict[str, Any]]:
    """What a kustomization renders, by kind; there is one of each."""
    documents = list(yaml.safe_load_all(rendered(folder)))
    found = {document["kind"]: document for document in documents}
    assert len(found) == len(documents)
    return found


@pytest.fixture(scope="module")
def production() -> dict[str, dict[str, Any]]:
    return manifests(PRODUCTION)


def pod(production: dict[str, dict[str, Any]]) -> dict[str, Any]:
    spec: dict[str, Any] = production["Deployment"]["spec"]["template"]["spec"]
    return spec


def test_the_manifests_are_valid(tmp_path: Path) -> None:
    file = tmp_path / "production.yaml"
    file.write_text(rendered(PRODUCTION), encoding="utf-8")
    command = [TOOLS / "kubernetes-validate", "--strict", file]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    for kind in (
        *("deployment", "service", "configmap", "horizontalpodautoscaler"),
        *("poddisruptionbudget", "networkpolicy", "namespace"),
    ):
        assert f"passed for resource {kind}/trellis" in result.stdout + result.stderr


def test_all_select_the_same_pods(production: dict[str, dict[str, Any]]) -> None:
    labels = production["Deployment"]["spec"]["template"]["metadata"]["labels"]
    selectors = [
        production["Deployment"]["spec"]["selector"]["matchLabels"],
        production["Service"]["spec"]["selector"],
        production["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
        production["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"],
        *(
            spread["labelSelector"]["matchLabels"]
            for spread in pod(production)["topologySpreadConstraints"]
        ),
    ]
    assert len(selectors) == 6
    for selector in selectors:
        assert selector
        assert selector.items() <= labels.items()
    target = production["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]
    assert (target["kind"], target["name"]) == ("Deployment", "trellis")


def test_the_ports_are_that_of_the_image(production: dict[str, dict[str, Any]]) -> None:
    [port] = map(int, re.findall(r"^EXPOSE (\d+)$", DOCKERFILE, re.MULTILINE))
    [container] = pod(production)["containers"]
    assert container["ports"] == [{"name": "http", "containerPort": port}]
    assert production["Service"]["spec"]["ports"][0]["targetPort"] == "http"
    [ingress] = production["NetworkPolicy"]["spec"]["ingress"]
    assert [each["port"] for each in ingress["ports"]] == [port]


def test_a_stop_fits_into_the_grace_period(production: dict[str, dict[str, Any]]) -> None:
    """The drain of the image and what gunicorn grants are 25 s in all."""
    [drain_s] = map(float, re.findall(r"TRELLIS_DRAIN_S=(\d+)", DOCKERFILE))
    configuration = (ROOT / "service/gunicorn_settings.py").read_text(encoding="utf-8")
    [total_s] = map(float, re.findall(r"graceful_timeout = int\((\d+) - ", configuration))
    assert drain_s < total_s < pod(production)["terminationGracePeriodSeconds"]
    probe = pod(production)["containers"][0]["readinessProbe"]
    # ... and the pod is known as not ready while it still takes requests.
    assert (probe["periodSeconds"] * probe["failureThreshold"]) < drain_s


def test_the_pod_keeps_to_the_restricted_standard(production: dict[str, dict[str, Any]]) -> None:
    """https://kubernetes.io/docs/concepts/security/pod-security-standards/"""
    of_pod = pod(production)["securityContext"]
    assert of_pod["runAsNonRoot"] is True
    assert of_pod["runAsUser"] > 0
    assert of_pod["seccompProfile"] == {"type": "RuntimeDefault"}
    of_container = pod(production)["containers"][0]["securityContext"]
    assert of_container["allowPrivilegeEscalation"] is False
    assert of_container["capabilities"] == {"drop": ["ALL"]}
    assert of_container["readOnlyRootFilesystem"] is True


@contextmanager
def played(folder: Path) -> Iterator[str]:
    """Run the Deployment of the base as it is, apart from the image and a port of the host."""
    found = manifests(BASE)
    port = free_port()
    [container] = found["Deployment"]["spec"]["template"]["spec"]["containers"]
    container["image"] = f"{IMAGE}:latest"
    container["imagePullPolicy"] = "Never"
    container["ports"][0] |= {"hostPort": port, "hostIP": "127.0.0.1"}
    file = folder / "played.yaml"
    documents = [found["ConfigMap"], found["Deployment"]]
    file.write_text(yaml.safe_dump_all(documents), encoding="utf-8")
    try:
        podman("kube", "play", str(file))
        yield f"http://127.0.0.1:{port}"
    finally:
        podman("kube", "down", str(file), check=False)


@pytest.mark.skipif(shutil.which("podman") is None, reason="podman is not installed")
@pytest.mark.usefixtures("image")
def test_the_deployment_runs(tmp_path: Path) -> None:
    with played(tmp_path) as url:
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            assert time.monotonic() < deadline, podman("ps", "--all").stdout
            try:
                if requests.get(f"{url}/readyz", timeout=START_TIMEOUT_S).ok:
                    break
            except requests.ConnectionError:
                time.sleep(0.2)
        answer = requests.post(
            f"{url}/ner", json={"text": "Jane Villanueva"}, timeout=START_TIMEOUT_S
        )
        assert [span["label"] for span in answer.json()["spans"]] == ["PER"]
        # Its root is read-only and it has no rights, and yet it counts.
        metrics = requests.get(f"{url}/metrics", timeout=START_TIMEOUT_S).text
        assert 'route="/ner",status="200"} 1.0' in metrics
        [name] = re.findall(
            r"\S*trellis\S*-trellis\b", podman("ps", "--format", "{{.Names}}").stdout
        )
        status = podman("exec", name, "cat", "/proc/1/status").stdout
        assert "Uid:\t10001\t10001\t10001\t10001" in status
        assert "CapEff:\t0000000000000000" in status
        assert podman("exec", name, "touch", "/app/file", check=False).returncode != 0
