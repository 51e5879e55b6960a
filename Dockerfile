# Nobody has built this image yet (docs/untested.md). Results outlive the container in a folder of yours:
#
#   docker build --tag hypersphere .
#   docker run --rm --volume "$PWD/results:/hypersphere/results" hypersphere make report
FROM python:3.11-slim-bookworm AS programs
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git make libegl1 libgl1-mesa-dri \
    && rm -rf /var/lib/apt/lists/*

FROM programs
WORKDIR /hypersphere
# The libraries first: another paper or loss installs none of them again.
COPY Makefile pyproject.toml requirements.lock README.md LICENSE ./
COPY workflow workflow
COPY plugins plugins
COPY src src
RUN make setup
COPY . .
CMD ["make", "report"]
