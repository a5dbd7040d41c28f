FROM python:3.13-alpine AS build
# The version of a package is that of git's tag.
RUN apk add --no-cache git
WORKDIR /src
COPY . .
RUN python -m venv --without-pip /opt/tapelint
RUN pip --python /opt/tapelint/bin/python install --no-cache-dir --disable-pip-version-check .

FROM python:3.13-alpine
RUN adduser -D -H tapelint
COPY --from=build /opt/tapelint /opt/tapelint
ENV PATH=/opt/tapelint/bin:$PATH PYTHONDONTWRITEBYTECODE=1
USER tapelint
WORKDIR /io
ENTRYPOINT ["tapelint"]
CMD ["--help"]
