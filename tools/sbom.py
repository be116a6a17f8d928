#!/usr/bin/env python3
"""What a release is made of: an SPDX 2.3 document in JSON.

    tools/sbom.py BUILD PACKAGE.tar.gz > jounce.spdx.json

BUILD is of the release preset, PACKAGE the source archive that it describes. Named are: Jounce itself; the Debian packages of the
libraries that the command is linked to, found by the dynamic section of the program, with their versions on this machine; those that are
compiled in (headers); the npm packages that the viewer contains, from web/package-lock.json with their
checksums; and the packages that build and test it (tools/packages.txt). The runtime's library needs libc and libm alone.
SOURCE_DATE_EPOCH is the time of the document: the same input gives the same bytes.
"""
import base64
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
# No entry of the dynamic section names them: headers.
COMPILED_IN = ("libxxhash-dev",)
# What vite puts into the viewer; everything else of the lock file builds it.
IN_THE_VIEWER = ("three", "uplot")


def output(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout if done.returncode == 0 else ""


def needed(program):
    return re.findall(r"\(NEEDED\).*\[(.*?)\]", output("readelf", "-dW", program))


def path_of(library):
    """Where the loader finds a library."""
    match = re.search(rf"^\s*{re.escape(library)} .* => (\S+)$", output("/sbin/ldconfig", "-p"), re.M)
    return os.path.realpath(match[1]) if match else None


def debian_package(path):
    for candidate in (path, path.removeprefix("/usr"), "/usr" + path):
        found = output("dpkg-query", "-S", candidate)
        if found:
            return found.split(":")[0].split(",")[0]
    return None


def version_of(package):
    return output("dpkg-query", "-W", "-f", "${Version}", package).strip() or None


def identifier(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def entry(name, version, **more):
    return {"SPDXID": identifier(name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
            **more}


def debian(package):
    version = version_of(package)
    if version is None:
        return None
    return entry(package, version, supplier="Organization: Debian",
                 externalRefs=[{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                "referenceLocator": f"pkg:deb/debian/{package.replace('+', '%2B')}@{version.replace('+', '%2B')}"}])


def npm(lock, name):
    at = lock["packages"][f"node_modules/{name}"]
    algorithm, value = at["integrity"].split("-", 1)
    return entry(f"npm-{name}", at["version"], downloadLocation=at.get("resolved", f"https://registry.npmjs.org/{name}/-/{name}-{at['version']}.tgz"), licenseDeclared=at.get("license", "NOASSERTION"),
                 checksums=[{"algorithm": algorithm.upper(), "checksumValue": base64.b64decode(value).hex()}],
                 externalRefs=[{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                "referenceLocator": f"pkg:npm/{name}@{at['version']}"}])


def build_packages():
    text = open(f"{SOURCE}/tools/packages.txt", encoding="utf-8").read()
    names = (line.split("#")[0].strip() for line in text.split("\n"))
    return sorted({name.rsplit(":", 1)[-1] for name in names if name})


def main():
    build, archive = sys.argv[1:3]
    version = re.search(r"project\(jounce VERSION (\S+)", open(f"{SOURCE}/CMakeLists.txt", encoding="utf-8").read())[1]
    digest = hashlib.sha256(open(archive, "rb").read()).hexdigest()
    packages, relations = {}, []

    def add(package, kind, reverse=False):
        if package is None:
            return
        packages.setdefault(package["SPDXID"], package)
        pair = (package["SPDXID"], "SPDXRef-jounce") if reverse else ("SPDXRef-jounce", package["SPDXID"])
        relation = {"spdxElementId": pair[0], "relationshipType": kind, "relatedSpdxElement": pair[1]}
        if relation not in relations:
            relations.append(relation)

    unknown = []
    for library in sorted(set(needed(f"{build}/bin/jounce") + needed(f"{build}/libjounce.so"))):
        if library.startswith("libjounce.so"):
            continue
        path = path_of(library)
        package = debian_package(path) if path else None
        if package is None:
            unknown.append(library)
        else:
            add(debian(package), "DYNAMIC_LINK")
    for package in COMPILED_IN:
        add(debian(package), "STATIC_LINK")
    lock = json.load(open(f"{SOURCE}/web/package-lock.json", encoding="utf-8"))
    for name in IN_THE_VIEWER:
        add(npm(lock, name), "CONTAINS")
    for package in build_packages():
        add(debian(package), "BUILD_DEPENDENCY_OF", reverse=True)
    if unknown:
        sys.exit(f"sbom: no Debian package has {', '.join(unknown)}")

    jounce = entry("jounce", version, supplier="Organization: Jounce", packageFileName=os.path.basename(archive),
                   checksums=[{"algorithm": "SHA256", "checksumValue": digest}], licenseConcluded="MIT", licenseDeclared="MIT",
                   primaryPackagePurpose="LIBRARY")
    created = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"jounce-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/jounce-{version}-{digest[:32]}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: jounce-tools-sbom.py"]},
        "packages": [jounce, *(packages[key] for key in sorted(packages))],
        "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                           "relatedSpdxElement": "SPDXRef-jounce"}, *relations],
    }
    json.dump(document, sys.stdout, indent=1, sort_keys=True)
    print()


if __name__ == "__main__":
    main()
