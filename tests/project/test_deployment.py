"""The files in deploy/, the Dockerfile and the page of deployment agree with one another, and with the service that they start."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest
import yaml

from deployed import COMPOSE, DEPLOY, PAGE, UNIT, of_unit
from guards import not_empty
from neardup.cli.main import cli
from neardup.service.limits import HEADER_BYTES, Limits
from neardup.service.stores.named_stores import named_stores
from neardup.service.tokens import read_tokens
from neardup.store.postgresql.places import database_place, is_database
from places import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
NGINX = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
KUBERNETES = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8")))
PROMETHEUS = yaml.safe_load((DEPLOY / "prometheus.yml").read_text(encoding="utf-8"))
ALERTS = [rule for group in yaml.safe_load((DEPLOY / "alerts.yml").read_text())["groups"] for rule in group["rules"]]
SERVICES = {name: of for name, of in COMPOSE["services"].items() if of["image"] == "neardup-service"}
SERVING = [name for name, of in SERVICES.items() if of["command"][0] == "serve"]
[POD] = [each["spec"]["template"]["spec"] for each in KUBERNETES if each["kind"] == "StatefulSet"]
[CONTAINER] = POD["containers"]
USER, PORT, CACHE = "10001:10001", "8080", "/var/cache/neardup"
NOT_HERE = {
    "docker": "there is no container engine",
    "kubectl": "there is no cluster",
    "systemctl": "systemd would have to start it",
    "useradd": "it changes the machine",
    "install": "it changes the machine",
    "runuser": "it changes the machine",
    "sed": "it changes the machine",
    "deploy/make-secrets": "it gives files to another user; a test below runs it",
    "neardup": "the database has another name; a test takes its arguments",
    "psql": "the database has another name; test_compose_runs.py runs the file",
    "export": "the command after it is not run",
    "python3": "it installs from the index of packages",
    "/opt/neardup/bin/pip": "it installs from the index of packages",
}
"""What begins commands of the page that no test runs, and why; those after a `$` are run by test_docs.py and test_compose_runs.py."""


def of_dockerfile(instruction, stage="service"):
    """The arguments of the last such instruction in a stage, if they are a list; else its text."""
    [text] = re.findall(rf"^FROM \S+ AS {stage}$(.*?)(?=^FROM)", DOCKERFILE, re.MULTILINE | re.DOTALL)
    found = re.findall(rf"^{instruction} (.*)$", text, re.MULTILINE)[-1]
    return yaml.safe_load(found[found.index("[") :]) if found.endswith("]") else found


def of_nginx(directive, text=NGINX):
    """The values of a directive."""
    return re.findall(rf"^\s*{directive} ([^;{{}}\n]*);", text, re.MULTILINE)


def seconds(text):
    """Of a duration such as 90s or 10m."""
    return int(text[:-1]) * {"s": 1, "m": 60}[text[-1]]


def unfenced_commands():
    """The commands of the page in fences that are not run, each on one line."""
    for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        if not block.startswith("$ "):
            yield from re.sub(r"\\\n\s*", "", block).splitlines()


def neardup_commands():
    """Every call of neardup in the files, and on the page where it is not run: where it stands, and its arguments."""
    yield "Dockerfile", of_dockerfile("CMD")
    yield "neardup.service", shlex.split(of_unit("ExecStart")[0])[1:]
    yield "kubernetes.yaml", CONTAINER["args"]
    for name, of in SERVICES.items():
        yield f"compose.yaml, {name}", of["command"]
    for line in unfenced_commands():
        found = re.search(r"(?:neardup-service|\bneardup) (store .*)", line)
        if found:
            yield line, shlex.split(found[1])


@pytest.mark.parametrize(("place", "arguments"), list(neardup_commands()), ids=lambda each: str(each)[:40])
def test_every_call_of_neardup_is_one_that_the_command_line_takes(place, arguments, tmp_path):
    (tmp_path / "tokens").write_text("crawler write 0123456789abcdefghij\n")
    arguments = [re.sub(r"(/run/secrets|%d)/tokens", str(tmp_path / "tokens"), each) for each in arguments]
    found, context = cli, click.Context(cli, **cli.context_settings)  # a command remembers the first one that it gets
    while isinstance(found, click.Group):
        found = found.get_command(context, arguments.pop(0))
    given = found.make_context(found.name, arguments, parent=context).params  # what is unknown or not there is refused
    stores = named_stores(given["stores"]).values() if "stores" in given else [given["path"]]
    for store in stores:
        assert not is_database(store) or database_place(store).schema == "neardup"
    if "stores" in given:
        assert (given["port"], given["host"] == "127.0.0.1" or given["behind_proxy"]) == (int(PORT), True)
        assert not given["insecure"]
        assert given["tokens"] or "NEARDUP_TOKENS" in [each["name"] for each in CONTAINER["env"]]


def test_calls_of_neardup_are_found_wherever_they_are():
    found = [place for place, _ in neardup_commands()]
    assert {
        "Dockerfile", "neardup.service", "kubernetes.yaml", "compose.yaml, create", "compose.yaml, compact",
        "compose.yaml, service-1", 'neardup store compact "postgresql://owner@database/neardup?sslmode=require"',
    } <= set(found)  # fmt: skip
    assert sum(place.startswith(("docker run", "runuser")) for place in found) == 2


def test_ports_agree():
    assert of_dockerfile("EXPOSE") == PORT
    assert {server.split()[0] for server in of_nginx("server")} == {f"{name}:{PORT}" for name in SERVING}
    assert [port["containerPort"] for port in CONTAINER["ports"]] == [int(PORT)]
    [service] = [each for each in KUBERNETES if each["kind"] == "Service"]
    assert [port["port"] for port in service["spec"]["ports"]] == [int(PORT)]
    assert PROMETHEUS["scrape_configs"][0]["static_configs"][0]["targets"] == [f"{name}:{PORT}" for name in SERVING]
    published = {name: of["ports"] for name, of in COMPOSE["services"].items() if "ports" in of}
    assert published == {"proxy": ["443:8443"]}
    of_tls, of_health = of_nginx("listen")
    assert of_tls == "8443 ssl"
    assert f"http://{of_health}/" in COMPOSE["services"]["proxy"]["healthcheck"]["test"]


def test_probes_ask_what_needs_no_token():
    pytest.importorskip("starlette", reason="needs the extra [server]")
    from neardup.service.routes import ROUTES

    free = {row.path for row in ROUTES if row.role is None and row.method == "GET"}
    probes = {name: CONTAINER[name]["httpGet"]["path"] for name in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert probes == {"startupProbe": "/v1/health", "livenessProbe": "/v1/health", "readinessProbe": "/v1/ready"}
    urls = [each for name in SERVING for each in SERVICES[name]["healthcheck"]["test"] if each.startswith("http")]
    assert set(urls) == {f"http://127.0.0.1:{PORT}/v1/ready"}
    assert f'"http://127.0.0.1:{PORT}/v1/health"' in (DEPLOY / "health.py").read_text()
    assert set(probes.values()) == free
    assert all(CONTAINER[name]["httpGet"]["port"] == CONTAINER["ports"][0]["name"] for name in probes)


def test_a_large_store_has_time_to_be_read_before_a_probe_gives_up():
    start = CONTAINER["startupProbe"]
    assert start["periodSeconds"] * start["failureThreshold"] >= 600
    assert all(seconds(SERVICES[name]["healthcheck"]["start_period"]) >= 600 for name in SERVING)


def test_nobody_is_killed_while_a_request_may_still_be_answered():
    graceful = int(Limits.timeout) + 1
    assert f"({graceful} s)" in PAGE
    stops = [seconds(COMPOSE["services"][name]["stop_grace_period"]) for name in [*SERVING, "proxy"]]
    stops += [int(of_unit("TimeoutStopSec")[0])]
    stops += [POD["terminationGracePeriodSeconds"] - int(CONTAINER["lifecycle"]["preStop"]["exec"]["command"][1])]
    [page] = re.findall(r"Give it (\d+) seconds", PAGE)
    assert min(stops) > graceful + 30
    assert int(page) in stops
    assert f"--stop-timeout {page}" in PAGE


def test_times_and_sizes_of_the_proxy_belong_to_those_of_the_service():
    [upstream] = re.findall(r"upstream services \{(.*?)\}", NGINX, re.DOTALL)
    assert seconds(of_nginx("keepalive_timeout", upstream)[0].split()[0]) < Limits.timeout
    assert seconds(of_nginx("proxy_read_timeout")[0]) > Limits.timeout
    assert seconds(of_nginx("client_body_timeout")[0]) <= Limits.timeout
    assert of_nginx("client_max_body_size") == [f"{Limits.max_body >> 20}m"]
    count, size = of_nginx("large_client_header_buffers")[0].split()
    assert int(count) * int(size.removesuffix("k")) << 10 == HEADER_BYTES
    files = [SERVICES[name]["ulimits"]["nofile"] for name in SERVING] + [int(of_unit("LimitNOFILE")[0])]
    assert min(files) >= Limits.max_connections + 128
    assert f"{Limits.max_connections:,} at most" in PAGE
    [waiting] = [rule["expr"] for rule in ALERTS if rule["alert"] == "NeardupWaits"]
    assert waiting.endswith(f"> {Limits.max_waiting // 2}")


def test_the_proxy_passes_on_nothing_that_a_client_says_about_itself():
    headers = dict(each.split() for each in of_nginx("proxy_set_header"))
    kept = {"Host": "$host"}
    assert {name: value for name, value in headers.items() if value != '""'} == kept
    assert {"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP"} <= set(headers)
    assert "X-Forwarded" not in "".join(path.read_text() for path in (ROOT / "src/neardup/service").rglob("*.py"))


def test_what_the_page_says_of_the_proxy_is_in_its_file():
    [table] = re.findall(r"^\| in `nginx.conf` \| why \|\n(.*?)\n\n", PAGE, re.MULTILINE | re.DOTALL)
    rows = [row.split("|")[1] for row in table.splitlines()[1:]]
    assert len(rows) == 7
    for row in rows:
        for directive in re.findall(r"`([^`]+)`", row):
            assert re.search(rf"^\s*{re.escape(directive)}(?:;| \{{)", NGINX, re.MULTILINE), directive


def test_secrets_are_files_and_each_container_has_those_that_it_names():
    files = {name: of["file"] for name, of in COMPOSE["secrets"].items()}
    assert files == {name: f"./secrets/containers/{name}" for name in files}
    used = {secret for of in COMPOSE["services"].values() for secret in of.get("secrets", ())}
    assert used == set(files)
    for name, of in COMPOSE["services"].items():
        named = set(re.findall(r"/run/secrets/([\w.]+)", yaml.safe_dump(of)))
        if name == "proxy":
            named = set(re.findall(r"/run/secrets/([\w.]+)", NGINX))
        assert named == set(of.get("secrets", ())), name
    for ignoring in (".gitignore", ".dockerignore"):
        assert "deploy/secrets" in (ROOT / ignoring).read_text()


def test_no_password_and_no_token_stands_in_a_file():
    for path in [*DEPLOY.glob("*.*"), ROOT / "Dockerfile"]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(?i)postgresql://[^/\s:]+:[^@\s]+@|PASSWORD: (?![/{])|PGPASSWORD=", text), path.name
    for name, of in not_empty(COMPOSE["services"].items()):
        for variable, value in of.get("environment", {}).items():
            assert value.startswith("/run/secrets/") or variable in ("POSTGRES_DB", "POSTGRES_USER"), (name, variable)


def test_services_in_containers_may_do_nothing_that_they_need_not():
    for name in (*SERVICES, "roles", "proxy"):
        of = COMPOSE["services"][name]
        assert (of["read_only"], of["cap_drop"], of["user"] if name not in SERVICES else USER) == (
            True,
            ["ALL"],
            USER,
        ), name
        assert of["security_opt"] == ["no-new-privileges:true"]
        assert not {"privileged", "cap_add", "devices", "network_mode", "pid"} & set(of)
        assert ("outside" in of["networks"]) == (name == "proxy")
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert of_dockerfile("USER") == USER
    assert POD["securityContext"]["runAsNonRoot"]
    assert POD["securityContext"]["runAsUser"] == int(USER.split(":")[0])
    assert CONTAINER["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert not POD["automountServiceAccountToken"]


def test_what_services_write_to_is_a_volume():
    assert f"NEARDUP_CACHE_DIR={CACHE}" in of_dockerfile("ENV")
    volumes = of_dockerfile("VOLUME")
    assert volumes == [of_dockerfile("WORKDIR"), CACHE]
    mounted = [SERVICES[name]["volumes"] for name in SERVING]
    assert mounted == [[f"replica-{number}:{CACHE}"] for number in (1, 2)]
    assert {each["mountPath"] for each in CONTAINER["volumeMounts"]} == {*volumes, "/tmp"}
    assert all(set(SERVICES[name]["tmpfs"]) == {"/tmp", volumes[0]} for name in SERVING)
    named = {each.split(":")[0] for of in COMPOSE["services"].values() for each in of.get("volumes", ())}
    assert {name for name in named if not name.startswith(".")} == set(COMPOSE["volumes"])
    assert all((DEPLOY / name).is_file() for name in named if name.startswith("."))


def test_files_that_the_image_copies_are_sent_to_its_build():
    ignored = (ROOT / ".dockerignore").read_text().split("\n")
    copied = re.findall(r"^COPY (?!--from)(\S+) \S+$", DOCKERFILE, re.MULTILINE)
    assert copied == [".", "deploy/health.py"]
    assert not {"deploy", "deploy/*", "src"} & set(ignored)
    stages = re.findall(r"^FROM \S+ AS (\S+)$", DOCKERFILE, re.MULTILINE)
    assert set(re.findall(r"--from=(\S+)", DOCKERFILE)) <= set(stages)
    assert not DOCKERFILE.split("\nFROM ")[-1].split("\n")[0].endswith("service"), "the last stage is the command line"


def test_the_role_of_the_services_has_the_rights_that_the_page_of_postgresql_gives_it():
    [sql] = re.findall(r"^```sql\n(.*?)^```$", (ROOT / "docs/postgresql.md").read_text(), re.MULTILINE | re.DOTALL)
    granted = re.findall(r"^GRANT .*;$", (DEPLOY / "roles.sql").read_text(), re.MULTILINE)
    assert granted == sql.splitlines()


def test_the_makefile_checks_all_files_against_their_schemas():
    makefile = (ROOT / "Makefile").read_text()
    for checked in ("compose-spec deploy/compose.yaml", "--strict deploy/kubernetes.yaml", "hadolint Dockerfile"):
        assert checked in makefile
    assert re.search(r"yamllint --strict .* deploy$", makefile, re.MULTILINE)


def test_alerts_are_of_metrics_and_labels_that_there_are():
    pytest.importorskip("prometheus_client", reason="needs the extra [server]")
    from neardup.service.metrics import Metrics, StoreMetrics
    from neardup.store.answers import NEW

    metrics = Metrics()
    StoreMetrics(metrics, "default").committed([NEW, NEW], 0.1)
    metrics.requests.labels("check", "200").inc()
    samples = re.findall(r"^(neardup_\w+)(?:\{(.*?)\})? ", metrics.text().decode(), re.MULTILINE)
    labels = {name: set(re.findall(r'(\w+)="', given)) for name, given in samples}
    for rule in ALERTS:
        named = re.findall(r"(?:neardup_\w+|\bup\b)", rule["expr"])
        assert named
        for metric in named:
            assert metric == "up" or metric in labels, metric
        known = {"job", "instance", "le"}.union(*(labels.get(metric, set()) for metric in named))
        used = re.findall(r"(\w+)=~?\"", rule["expr"]) + re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"])
        assert set(used) <= known, rule["alert"]
    assert PROMETHEUS["rule_files"] == ["alerts.yml"]
    assert {each["job_name"] for each in PROMETHEUS["scrape_configs"]} == {"neardup"}


def test_the_page_says_what_to_do_about_every_alert():
    assert re.findall(r"^\| `(Neardup\w+)` \|", PAGE, re.MULTILINE) == [rule["alert"] for rule in ALERTS]


def test_the_page_names_every_file_and_no_other():
    [table] = re.findall(r"^\| file \| for \|\n(.*?)\n\n", PAGE, re.MULTILINE | re.DOTALL)
    named = {Path(name).name for name in re.findall(r"`([\w./-]+)`", table)} - {"Dockerfile", "service"}
    assert named == {path.name for path in DEPLOY.iterdir() if path.name not in ("secrets", "__pycache__")}
    for path in re.findall(r"deploy/[\w.-]+\.\w+", PAGE):
        assert (ROOT / path).is_file(), path
    for service in re.findall(r"docker compose .*?(?:run --rm|--wait) (\w+)$", PAGE, re.MULTILINE):
        assert service in COMPOSE["services"]


def test_commands_of_the_page_that_are_not_run_are_those_that_cannot():
    first = {line.split()[0] for line in unfenced_commands()}
    assert first == set(NOT_HERE)


def mode(path):
    return path.stat().st_mode & 0o777


def test_secrets_are_made_once_and_read_by_nobody_else(tmp_path):
    shutil.copy(DEPLOY / "make-secrets", tmp_path)
    subprocess.run([tmp_path / "make-secrets"], check=True, capture_output=True)
    made = {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}
    assert set(made) | {"server.pem", "server.key"} == {*COMPOSE["secrets"], "metrics_token"}
    assert {mode(path) for path in (tmp_path / "secrets").iterdir()} == {0o600}
    callers = {caller.name: caller.role for _, caller in read_tokens(tmp_path / "secrets/tokens").callers}
    assert callers == {"prometheus": "read", "crawler": "write", "operator": "admin"}
    for role in ("owner", "service"):
        assert made[f"{role}.pgpass"] == f"database:5432:neardup:{role}:{made[f'{role}_password']}\n"
        assert re.fullmatch(r"[0-9a-f]{48}", made[f"{role}_password"])
    assert made["owner_password"] != made["service_password"]
    known = read_tokens(tmp_path / "secrets/tokens").caller(f"Bearer {made['metrics_token'].strip()}")
    assert (known.name, known.role) == ("prometheus", "read")
    assert PROMETHEUS["scrape_configs"][0]["authorization"] == {"credentials_file": "/run/secrets/metrics_token"}
    subprocess.run([tmp_path / "make-secrets"], check=True, capture_output=True)
    assert made == {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}


def test_containers_get_files_of_their_own_user_and_yours_stay(tmp_path):
    shutil.copy(DEPLOY / "make-secrets", tmp_path)
    command = [tmp_path / "make-secrets", "containers"]
    refused = subprocess.run(command, capture_output=True, text=True)
    said = "There are no secrets yet" if os.geteuid() == 0 else "Run this as root"
    assert (refused.returncode, said in refused.stderr) == (2, True)
    if os.geteuid() != 0:
        pytest.skip("only root gives files to another user")
    for more in ("", "a certificate that came later"):
        subprocess.run([tmp_path / "make-secrets"], check=True, capture_output=True)
        (tmp_path / "secrets/server.pem").write_text(more)
        subprocess.run(command, check=True)
        own = {path.name: path for path in (tmp_path / "secrets").iterdir() if path.is_file()}
        copies = {path.name: path for path in (tmp_path / "secrets/containers").iterdir()}
        assert {name: path.read_text() for name, path in copies.items()} == {
            name: path.read_text() for name, path in own.items()
        }
        owners = {(f"{path.stat().st_uid}:{path.stat().st_gid}", mode(path)) for path in copies.values()}
        assert owners == {(USER, 0o600)}
        assert {path.stat().st_uid for path in own.values()} == {0}


def test_the_owner_of_the_database_compacts():
    granted = re.findall(r"^GRANT DELETE ON (.*) TO service;$", (DEPLOY / "roles.sql").read_text(), re.MULTILINE)
    assert granted == [
        "neardup.notes, neardup.judgements, neardup.skipped, neardup.skipped_contents, neardup.orphans"
    ], "the role of the services may not forget documents"
    of = SERVICES["compact"]
    assert of["command"] == ["store", "compact", "postgresql://owner@database/neardup"]
    assert of["environment"] == SERVICES["create"]["environment"] == {"PGPASSFILE": "/run/secrets/owner.pgpass"}
    assert "volumes" not in of, "a service uses its replica while the store is compacted"


def test_a_password_comes_to_the_unit_by_a_file_of_root_and_not_as_a_credential():
    assert of_unit("EnvironmentFile") == ["-/etc/neardup/environment"]
    assert "install -m 0600 /dev/null /etc/neardup/environment" in PAGE
    assert "%d/pgpass" not in UNIT + PAGE
