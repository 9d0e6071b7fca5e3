"""Operations of a step against a count by hand."""
from depthlaw.empirics.nets import Shape
from depthlaw.empirics.settings import Settings
from depthlaw.empirics.tasks.graphs import Connectivity
from depthlaw.empirics.utilisation import matmul_rate, step_operations

TASK = Connectivity(vertices=4)
SHAPE = Shape(width=6, depth=2, attention="linearised", features=TASK.features,
              outputs=TASK.outputs)
SETTINGS = Settings(steps=3, batch=5, learning_rates=(1e-3,) * 2, seeds=(0, 1), validation=4)


def by_hand(depth, replicas):
    tokens, n, width = replicas * 5 * 4, 4, 6
    linear = tokens * (width * 3 * width + width * width) * depth + tokens * width * (
        TASK.features + n)
    scores = 2 * replicas * 5 * n * n * width * depth
    # Backward doubles every product, but for the gradient of the inputs.
    return 2 * (3 * (linear + scores) - tokens * width * TASK.features)


def test_operations_of_a_step():
    assert step_operations(SHAPE, TASK, SETTINGS) == by_hand(depth=2, replicas=2)
    assert step_operations(SHAPE, TASK, SETTINGS) != by_hand(depth=1, replicas=2)


def test_the_rate_of_the_machine_is_positive():
    assert matmul_rate("cpu", "float64", size=64, rounds=3) > 0
