# The project's commands. Each does all its own set-up; CMake does the work (see CMakePresets.json).
#
#   make demo    build, and the paper's experiment on the built-in figure: a few minutes, a table and a report
#   make body    the same on a body with motion capture, from the data beside the project: about 50 minutes
#   make test    every test, in the release and the sanitize build
#   make bench   the benchmarks' tables
#   make fuzz    every reader of files against hostile ones, SECONDS=60 each (tools/fuzz.sh)
#   make coverage  lines and branches of src/runtime that tests and fuzz inputs run, by file (tools/coverage.py)
#   make cluster-test  the simulation under Slurm on this machine, a node killed in the middle (tools/cluster-test.sh)
#   make platforms  the runtime on other compilers and machines, a table; installs what that takes (docs/reference/platforms.md)
#   make packages   .deb and .tar.gz in build/packages
#   make release every package, what they are made of (SPDX) and checksums in build/release-VERSION (tools/release.sh)
#   make portable   the command as one static file for any Linux, tried in an empty root folder: build/packages
#   make python  the Python package as one wheel in build/python (docs/guides/python.md)
#   make blender the Blender add-on as one zip in build/blender (docs/guides/blender.md)
#   make blender-test  installs Debian's Blender and runs the add-on's tests in it
#   make results the tables and pictures of README.md and docs/ from new runs; ONLY="demo fit" does some (tools/results.sh)
#   make docs    the manual as a static site with search: build/site/index.html
#   make docs-check  runs every command in README.md and docs/, long ones included
#   make reference   writes the generated pages of docs/reference
#   make build   the command at build/release/bin/jounce
#   make deps    install the missing Debian packages
#   make clean   remove build/

.PHONY: demo body test bench fuzz coverage cluster-test results docs docs-check reference platforms packages portable release python blender blender-test build deps clean
.DEFAULT_GOAL := build

JOUNCE := build/release/bin/jounce
BENCH := build/release/bin/jounce-bench
JOUNCE_PATH := $(CURDIR)/$(JOUNCE)
JOBS := $(shell nproc)
PACKAGES := $(shell sed 's/\#.*//' tools/packages.txt)

deps:
	@tools/install-packages.sh $(PACKAGES)

# A configured build folder reconfigures itself when a CMake file changes.
build/%/build.ninja: | deps
	@echo "== configuring $*"
	@cmake --preset $* -Wno-dev > build-$*.log 2>&1 || { cat build-$*.log; rm -f build-$*.log; exit 1; }
	@rm -f build-$*.log

build: build/release/build.ninja
	@echo "== building release"
	@cmake --build --preset release -j $(JOBS) -- --quiet

demo: build
	@$(JOUNCE) demo build/demo

# A manifest that was edited there is kept.
body: build
	@test -f ../shared/data/body.glb || { echo "../shared/data/body.glb is not there"; exit 1; }
	@mkdir -p build/body
	@test -f build/body/manifest.yaml || cp examples/body/manifest.yaml build/body/
	@$(JOUNCE) build build/body

test: build build/sanitize/build.ninja
	@echo "== building sanitize"
	@cmake --build --preset sanitize -j $(JOBS) -- --quiet
	@echo "== testing release"
	@ctest --preset release -j $(JOBS)
	@echo "== testing sanitize"
	@ctest --preset sanitize -j $(JOBS)

# Peers are run where they are installed: python3-torch for the fit and the network.
bench: build
	@$(BENCH) springs
	@echo
	@$(BENCH) character
	@echo
	@$(BENCH) volume $(if $(wildcard ../shared/data/body.glb),--from ../shared/data/body.glb)
	@echo
	@$(BENCH) contact $(if $(wildcard ../shared/data/body.glb),--from ../shared/data/body.glb)
	@echo
	@$(BENCH) flesh
	@$(if $(wildcard ../shared/data/body.glb),$(BENCH) flesh --from ../shared/data/body.glb)
	@echo
	@$(BENCH) fit --keep build/bench
	@if /usr/bin/python3 -c 'import torch, numpy' 2>/dev/null; then \
		/usr/bin/python3 bench/peers/spring_fit_torch.py build/bench; \
	else echo "peer: skipped, python3-torch is not installed"; fi
	@echo
	@if [ -f build/release/web/stamp ]; then JOUNCE=$(JOUNCE_PATH) node build/release/web/bench/step.mjs; \
	else echo "web: skipped, the web part was not built"; fi
	@$(BENCH) network --keep build/bench
	@if /usr/bin/python3 -c 'import torch, numpy' 2>/dev/null; then \
		/usr/bin/python3 bench/peers/network_train_torch.py build/bench; \
	else echo "peer: skipped, python3-torch is not installed"; fi

# The folder is the one of `make test`: what was built there is not built again.
platforms: deps
	@tools/install-packages.sh $(shell sed 's/\#.*//' tools/platform-packages.txt)
	@tools/platforms.sh build/release/platforms

SECONDS := 60
fuzz: build/sanitize/build.ninja
	@cmake --build --preset sanitize -j $(JOBS) --target fuzz author_asset_test_asset author_asset_test_asset_detail -- --quiet
	@cd build/sanitize && ls seed*.jounce >/dev/null 2>&1 || { bin/author_asset_test_asset; bin/author_asset_test_asset_detail; } >/dev/null 2>&1
	@tools/fuzz.sh build/sanitize $(SECONDS) $(ONLY)

coverage: build/coverage/build.ninja
	@tools/coverage.py build/coverage

cluster-test: build
	@tools/install-packages.sh slurm-wlm
	@tools/cluster-test.sh build/release/bin/jounce build/cluster

packages: build
	@cd build/release && cpack -B ../packages

VERSION := $(shell sed -n 's/^project.jounce VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
release: build
	@tools/release.sh build/release build/release-$(VERSION)

# Four libraries are fetched as Debian's source packages and built for it.
LIBRARIES := build/portable-libraries
portable: build
	@tools/install-packages.sh dpkg-source:dpkg-dev file:file
	@tools/portable-libraries.sh $(LIBRARIES) x86_64-linux-gnu
	@test -f build/portable/build.ninja || cmake --preset portable -Wno-dev > build-portable.log 2>&1 || { cat build-portable.log; exit 1; }
	@rm -f build-portable.log
	@cmake --build --preset portable -j $(JOBS) --target jounce_command -- --quiet
	@tools/portable-test.sh build/portable/bin/jounce $(JOUNCE) build/portable/test || [ $$? = 77 ]
	@tools/portable-pack.sh build/portable/bin/jounce $(LIBRARIES) build/packages

# Nothing is fetched: the wheel is written by a script that needs Python alone.
PYTHON := $(firstword $(wildcard /usr/bin/python3) python3)
python: build
	@$(PYTHON) python/build_wheel.py --library build/release/libjounce.so --out build/python

blender: python
	@$(PYTHON) blender/build_addon.py --wheel "$$(ls -t build/python/jounce-*.whl | head -1)" --out build/blender

blender-test: build
	@tools/install-packages.sh $(shell sed 's/\#.*//' tools/blender-packages.txt)
	@blender/test/run.sh $(CURDIR) $(JOUNCE_PATH) $(CURDIR)/build/release/libjounce.so $(CURDIR)/build/release

results: build
	@tools/results.sh $(JOUNCE_PATH) $(ONLY)

docs:
	@tools/install-packages.sh python3:python3
	@python3 -B tools/docs/site.py build/site
	@python3 -B tools/docs/check.py build/site

docs-check: build
	@python3 -B tools/docs/commands.py build/release --long $(ONLY)

reference: build
	@python3 -B tools/docs/reference.py $(JOUNCE)

clean:
	rm -rf build
