# pagemind in a container: `up` keeps the agents of the home awake; the home is a volume.
#   docker build -t pagemind --build-arg EXTRAS=documents .
#   docker run -d -v pagemind:/home/pagemind/data -e OPENAI_API_KEY pagemind
FROM python:3.11-slim

# Extras of pyproject.toml, with commas between them; none by default.
ARG EXTRAS=""

ENV PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    PAGEMIND_HOME=/home/pagemind/data

RUN useradd --create-home --uid 1000 pagemind

WORKDIR /opt/pagemind
COPY pyproject.toml MANIFEST.in README.md LICENSE NOTICE ./
COPY runtime ./runtime
COPY tools ./tools
COPY prompts ./prompts
COPY agents ./agents
RUN pip install ".${EXTRAS:+[$EXTRAS]}"

USER pagemind
WORKDIR /home/pagemind
# Made here, so that a new volume belongs to the user.
RUN mkdir data
VOLUME /home/pagemind/data

# Turns that run may end before it leaves.
STOPSIGNAL SIGTERM
ENTRYPOINT ["pagemind"]
CMD ["up"]
