import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ImagePullPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    IMAGE_PULL_POLICY_UNSPECIFIED: _ClassVar[ImagePullPolicy]
    IMAGE_PULL_POLICY_IF_NOT_PRESENT: _ClassVar[ImagePullPolicy]
    IMAGE_PULL_POLICY_ALWAYS: _ClassVar[ImagePullPolicy]
    IMAGE_PULL_POLICY_NEVER: _ClassVar[ImagePullPolicy]

class NetworkPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NETWORK_POLICY_UNSPECIFIED: _ClassVar[NetworkPolicy]
    NETWORK_POLICY_ISOLATED: _ClassVar[NetworkPolicy]
    NETWORK_POLICY_RUNNER: _ClassVar[NetworkPolicy]
IMAGE_PULL_POLICY_UNSPECIFIED: ImagePullPolicy
IMAGE_PULL_POLICY_IF_NOT_PRESENT: ImagePullPolicy
IMAGE_PULL_POLICY_ALWAYS: ImagePullPolicy
IMAGE_PULL_POLICY_NEVER: ImagePullPolicy
NETWORK_POLICY_UNSPECIFIED: NetworkPolicy
NETWORK_POLICY_ISOLATED: NetworkPolicy
NETWORK_POLICY_RUNNER: NetworkPolicy

class ImagePullAuth(_message.Message):
    __slots__ = ("username", "password", "auth", "identity_token", "registry_token")
    USERNAME_FIELD_NUMBER: _ClassVar[int]
    PASSWORD_FIELD_NUMBER: _ClassVar[int]
    AUTH_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REGISTRY_TOKEN_FIELD_NUMBER: _ClassVar[int]
    username: str
    password: str
    auth: str
    identity_token: str
    registry_token: str
    def __init__(self, username: _Optional[str] = ..., password: _Optional[str] = ..., auth: _Optional[str] = ..., identity_token: _Optional[str] = ..., registry_token: _Optional[str] = ...) -> None: ...

class ImagePullConfig(_message.Message):
    __slots__ = ("pull_policy", "auth")
    PULL_POLICY_FIELD_NUMBER: _ClassVar[int]
    AUTH_FIELD_NUMBER: _ClassVar[int]
    pull_policy: ImagePullPolicy
    auth: ImagePullAuth
    def __init__(self, pull_policy: _Optional[_Union[ImagePullPolicy, str]] = ..., auth: _Optional[_Union[ImagePullAuth, _Mapping]] = ...) -> None: ...

class NetworkConfig(_message.Message):
    __slots__ = ("policy",)
    POLICY_FIELD_NUMBER: _ClassVar[int]
    policy: NetworkPolicy
    def __init__(self, policy: _Optional[_Union[NetworkPolicy, str]] = ...) -> None: ...

class ResourceLimits(_message.Message):
    __slots__ = ("memory", "cpu")
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    CPU_FIELD_NUMBER: _ClassVar[int]
    memory: str
    cpu: str
    def __init__(self, memory: _Optional[str] = ..., cpu: _Optional[str] = ...) -> None: ...

class ResourceConfig(_message.Message):
    __slots__ = ("limits",)
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    limits: ResourceLimits
    def __init__(self, limits: _Optional[_Union[ResourceLimits, _Mapping]] = ...) -> None: ...

class RunFunctionConfig(_message.Message):
    __slots__ = ("resources", "network", "timeout")
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    NETWORK_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    resources: ResourceConfig
    network: NetworkConfig
    timeout: _duration_pb2.Duration
    def __init__(self, resources: _Optional[_Union[ResourceConfig, _Mapping]] = ..., network: _Optional[_Union[NetworkConfig, _Mapping]] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class RunFunctionRequest(_message.Message):
    __slots__ = ("image", "input", "image_pull_config", "run_function_config")
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    IMAGE_PULL_CONFIG_FIELD_NUMBER: _ClassVar[int]
    RUN_FUNCTION_CONFIG_FIELD_NUMBER: _ClassVar[int]
    image: str
    input: bytes
    image_pull_config: ImagePullConfig
    run_function_config: RunFunctionConfig
    def __init__(self, image: _Optional[str] = ..., input: _Optional[bytes] = ..., image_pull_config: _Optional[_Union[ImagePullConfig, _Mapping]] = ..., run_function_config: _Optional[_Union[RunFunctionConfig, _Mapping]] = ...) -> None: ...

class RunFunctionResponse(_message.Message):
    __slots__ = ("output",)
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    output: bytes
    def __init__(self, output: _Optional[bytes] = ...) -> None: ...
