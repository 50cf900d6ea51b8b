from crossply.ui.views.pipeline_picture import called_functions, operation_picture, pipeline_picture
from tests.support.ui.shop_platform import FUNCTIONS, NIGHTLY, REPORT, SHOP_COMPOSITION, operation

HEALTHY = {"conditions": [{"type": "Installed", "status": "True"}, {"type": "Healthy", "status": "True"}]}
BY_NAME = {function["metadata"]["name"]: {**function, "status": HEALTHY} for function in FUNCTIONS}


def test_a_picture_has_the_steps_in_order_with_their_functions():
    picture = pipeline_picture(SHOP_COMPOSITION, BY_NAME)
    assert (picture.kind, picture.api_version) == ("Shop", "shop.example.org/v1")
    assert [(step.number, step.name, step.health.word) for step in picture.steps] == [
        (1, "data", "Healthy"),
        (2, "web-servers", "Healthy"),
        (3, "ready", "Healthy"),
    ]
    assert picture.steps[0].facts == ("input Resources", "1 resource")


def test_a_step_with_a_missing_or_unhealthy_function_is_reported():
    ill = {"conditions": [{"type": "Healthy", "status": "False", "message": "no image"}]}
    functions = {"function-auto-ready": {"status": ill}}
    steps = pipeline_picture(SHOP_COMPOSITION, functions).steps
    assert (steps[0].health.state, steps[0].health.word) == ("failing", "Missing")
    assert (steps[2].health.word, steps[2].health.message) == ("Unhealthy", "no image")


def test_an_unreadable_pipeline_is_reported():
    assert pipeline_picture({"spec": {"mode": "Pipeline", "pipeline": 3}}, {}).problem
    assert called_functions({"spec": {"pipeline": [None, {"functionRef": 1}]}}) == set()


def test_operations_and_their_creators_have_pictures():
    for obj in (operation("report", REPORT), NIGHTLY):
        assert [step.name for step in operation_picture(obj, BY_NAME).steps] == ["write"]


def test_the_functions_that_a_composition_calls():
    assert called_functions(SHOP_COMPOSITION) == set(BY_NAME)
