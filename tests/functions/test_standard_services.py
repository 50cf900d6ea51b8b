"""Health and reflection of a function server, query by the clients that gRPC publishes."""

from __future__ import annotations

from collections.abc import Iterator

import grpc
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from crossply.functions.server import Server, ServerSettings

V1 = "apiextensions.fn.proto.v1.FunctionRunnerService"
NAMES = {
    V1,
    "apiextensions.fn.proto.v1beta1.FunctionRunnerService",
    "grpc.health.v1.Health",
    "grpc.reflection.v1.ServerReflection",
    "grpc.reflection.v1alpha.ServerReflection",
}
STATUS = health_pb2.HealthCheckResponse
MANY = 40
"""More than the threads of a server."""


@pytest.fixture(scope="module")
def channel() -> Iterator[grpc.Channel]:
    server = Server("test", lambda data, _: data, ServerSettings("127.0.0.1:0"))
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as opened:
        yield opened
    server.stop()


@pytest.fixture
def health(channel) -> health_pb2_grpc.HealthStub:
    return health_pb2_grpc.HealthStub(channel)


def reflect(channel, version="v1alpha", **request):
    method = f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo"
    call = channel.stream_stream(
        method,
        reflection_pb2.ServerReflectionRequest.SerializeToString,
        reflection_pb2.ServerReflectionResponse.FromString,
    )
    return next(call(iter([reflection_pb2.ServerReflectionRequest(**request)]), timeout=60))


def request(service: str) -> health_pb2.HealthCheckRequest:
    return health_pb2.HealthCheckRequest(service=service)


@pytest.mark.parametrize("service", ["", V1])
def test_the_server_and_its_services_are_healthy(health, service):
    assert health.Check(request(service), timeout=60).status == STATUS.SERVING


def test_the_health_of_an_unknown_service_is_an_error(health):
    with pytest.raises(grpc.RpcError) as refused:
        health.Check(request("other"), timeout=60)
    assert refused.value.code() is grpc.StatusCode.NOT_FOUND


def test_health_lists_the_status_of_all_services(health):
    statuses = health.List(health_pb2.HealthListRequest(), timeout=60).statuses
    assert {"", V1} < set(statuses)
    assert {response.status for response in statuses.values()} == {STATUS.SERVING}


def test_watching_the_health_takes_no_threads_from_calls(health):
    watches = [health.Watch(request(""), timeout=120) for _ in range(MANY)]
    assert [next(watch).status for watch in watches] == [STATUS.SERVING] * MANY
    assert health.Check(request(""), timeout=60).status == STATUS.SERVING
    unknown = health.Watch(request("other"), timeout=120)
    assert next(unknown).status == STATUS.SERVICE_UNKNOWN
    for watch in (*watches, unknown):
        watch.cancel()


def test_a_damaged_health_request_is_an_error(channel):
    with pytest.raises(grpc.RpcError) as refused:
        channel.unary_unary("/grpc.health.v1.Health/Check")(b"\x0a\xff", timeout=60)
    assert refused.value.code() is grpc.StatusCode.INTERNAL


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
def test_reflection_lists_all_services_in_both_of_its_versions(channel, version):
    response = reflect(channel, version, host="a.test", list_services="*")
    assert {service.name for service in response.list_services_response.service} == NAMES
    assert response.valid_host == response.original_request.host == "a.test"


def test_a_client_can_build_all_messages_from_reflection(channel):
    database = ProtoReflectionDescriptorDatabase(channel)
    pool = DescriptorPool(database)
    assert set(database.get_services()) == NAMES
    for name in NAMES:
        service = pool.FindServiceByName(name)
        assert all(method.input_type.fields is not None for method in service.methods)
    method = pool.FindServiceByName(V1).FindMethodByName("RunFunction")
    assert {"observed", "desired", "credentials"} <= set(method.input_type.fields_by_name)
    assert method.input_type.fields_by_name["context"].message_type.full_name == "google.protobuf.Struct"


@pytest.mark.parametrize(
    "symbol",
    [f"{V1}.RunFunction", "apiextensions.fn.proto.v1.State.resources", "google.protobuf.Value.null_value"],
)
def test_a_method_a_field_and_a_nested_message_are_resolved(channel, symbol):
    described = reflect(channel, file_containing_symbol=symbol).file_descriptor_response
    files = [FileDescriptorProto.FromString(data) for data in described.file_descriptor_proto]
    names = {file.name for file in files}
    assert symbol.startswith(files[0].package)
    assert all(set(file.dependency) <= names for file in files), "imports come along"


@pytest.mark.parametrize(
    "query",
    [
        {"file_containing_symbol": "no.such.Message"},
        {"file_by_filename": "no/such.proto"},
        {"all_extension_numbers_of_type": "no.such.Message"},
        {"file_containing_extension": {"containing_type": f"{V1}", "extension_number": 1}},
    ],
)
def test_an_unknown_symbol_is_an_error(channel, query):
    assert reflect(channel, **query).error_response.error_code == grpc.StatusCode.NOT_FOUND.value[0]


def test_our_messages_have_no_extensions(channel):
    name = "apiextensions.fn.proto.v1.RunFunctionRequest"
    response = reflect(channel, all_extension_numbers_of_type=name).all_extension_numbers_response
    assert (response.base_type_name, list(response.extension_number)) == (name, [])


def test_an_empty_reflection_request_is_an_invalid_argument(channel):
    assert reflect(channel).error_response.error_code == grpc.StatusCode.INVALID_ARGUMENT.value[0]
