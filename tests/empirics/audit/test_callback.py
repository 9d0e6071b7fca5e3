"""Training with an audit beside it is training without it, bit by bit."""

import copy

import pytest
import torch
from tiny_models import VOCABULARY, tiny, transformers
from transformers.trainer_callback import CallbackHandler, TrainerControl, TrainerState

from depthlaw.empirics.audit import AuditError
from depthlaw.empirics.audit.audit import audit
from depthlaw.empirics.audit.callback import AuditCallback, flat
from depthlaw.empirics.audit.documents import random_documents
from depthlaw.empirics.audit.layered import layered

DOCUMENTS = random_documents(VOCABULARY, tokens=12, documents=8)
STEPS = 4


def dropping_net():
    """Dropout draws from the generator that an audit must leave alone."""
    net = tiny("GPT2LMHeadModel").train()
    for module in net.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.2
    return net


def trained(*callbacks, spoilt=None):
    """A loop of steps as the Trainer's, with its own handler of callbacks."""
    net = dropping_net()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    handler = CallbackHandler([*callbacks], net, None, optimizer, None)
    state, control = TrainerState(), TrainerControl()
    torch.manual_seed(5)
    handler.on_train_begin(None, state, control)
    for state.global_step in range(1, STEPS + 1):
        ids = torch.randint(VOCABULARY, (2, 12))
        net(ids, labels=ids).loss.backward()
        optimizer.step()
        if state.global_step == spoilt:
            net.transformer.h[0].ln_1.weight.data[0] = torch.nan
        gradients = [weight.grad.nan_to_num() for weight in net.parameters()]
        control.should_log = True
        handler.on_step_end(None, state, control)
        assert control.should_log
        after = (weight.grad.nan_to_num() for weight in net.parameters())
        assert all(map(torch.equal, gradients, after))
        assert all(module.training for module in net.modules())
        optimizer.zero_grad()
        if state.global_step % 3 == 0:
            handler.on_evaluate(None, state, control, metrics={})
    return net, state, torch.get_rng_state()


@pytest.mark.parametrize(("every", "steps"), [(2, [0, 2, 4]), (None, [0, 3])])
def test_training_is_the_same_with_and_without(every, steps):
    net, _, rng = trained()
    callback = AuditCallback(DOCUMENTS, every=every)
    beside, state, rng_beside = trained(callback)
    assert all(map(torch.equal, net.state_dict().values(), beside.state_dict().values()))
    assert torch.equal(rng, rng_beside)
    assert list(callback.history) == steps == [entry["step"] for entry in state.log_history]
    assert not callback.refused


def test_its_values_are_those_of_the_model_without_a_layer():
    callback = AuditCallback(DOCUMENTS, every=STEPS)
    net, state, _ = trained(callback)
    net.eval()
    ids = torch.as_tensor(DOCUMENTS.ids)
    losses = [net(ids, labels=ids).loss.item()]
    for layer in range(len(net.transformer.h)):
        less = copy.deepcopy(net)
        del less.transformer.h[layer]
        losses.append(less(ids, labels=ids).loss.item())
    said = state.log_history[-1]
    assert said == flat(callback.history[STEPS]) | {"step": STEPS}
    assert said["audit/loss"] == pytest.approx(losses[0], abs=1e-5)
    for layer, without in enumerate(losses[1:], 1):
        assert said[f"audit/removal_layer_{layer}"] == pytest.approx(without - losses[0], abs=1e-5)
    assert max(losses) - losses[0] > 0.01
    assert {"audit/residual_layer_1", "audit/removal_divergence_layer_4"} < set(said)


def test_a_log_takes_the_values_and_leaves_the_trainers_own_due():
    heard = []

    class Trainer(transformers.TrainerCallback):
        """Its log ends with the handler of callbacks, which takes the log as done."""

        def on_train_begin(self, args, state, control, **known):
            self.control = control

        def log(self, values):
            heard.append(values)
            self.control.should_log = False

    trainer = Trainer()
    callback = AuditCallback(DOCUMENTS, every=2, log=trainer.log)
    _, state, _ = trained(trainer, callback)
    assert heard == [flat(audit) for audit in callback.history.values()]
    assert not state.log_history


def test_what_cannot_be_audited_stops_no_training_but_is_said_before_it():
    callback = AuditCallback(DOCUMENTS, every=1)
    trained(callback, spoilt=3)
    assert list(callback.history) == [0, 1, 2]
    assert "not finite" in callback.refused[3]
    with pytest.raises(AuditError, match="0 to 39"):
        trained(AuditCallback(random_documents(999, "uniform", tokens=12, documents=8)))
    with pytest.raises(AuditError, match="group 'x' is not known"):
        AuditCallback(DOCUMENTS, groups=["x"])
    for level in (0.49, 0.99995, float("nan")):
        with pytest.raises(AuditError, match=r"^level .*: accepted are 0.5 to 0.9999, such as"):
            AuditCallback(DOCUMENTS, level=level)
        with pytest.raises(AuditError, match="accepted are 0.5 to 0.9999"):
            audit(layered(tiny("GPT2LMHeadModel")), DOCUMENTS, level=level)
    assert AuditCallback(DOCUMENTS, level=0.9999).level == 0.9999


@pytest.mark.filterwarnings("ignore")
def test_it_is_a_callback_of_the_trainer(tmp_path):
    pytest.importorskip("accelerate", reason="the Trainer of transformers asks for it")

    def weights(audited):
        options = {"logging_steps": 3, "report_to": [], "use_cpu": True, "save_strategy": "no"}
        ids = torch.randint(VOCABULARY, (8, 12), generator=torch.Generator().manual_seed(0))
        trainer = transformers.Trainer(
            dropping_net(),
            transformers.TrainingArguments(tmp_path, max_steps=STEPS, **options),
            train_dataset=[{"input_ids": row, "labels": row} for row in ids],
        )
        if audited:
            trainer.add_callback(AuditCallback(DOCUMENTS, every=3, log=trainer.log))
        trainer.train()
        return trainer.model.state_dict().values(), trainer.state.log_history

    (alone, losses), (beside, logs) = weights(False), weights(True)
    assert all(map(torch.equal, alone, beside))
    assert [log["step"] for log in logs if "audit/removal_layer_1" in log] == [0, 3]
    told = [[log["loss"] for log in each if "loss" in log] for each in (losses, logs)]
    assert told[0] == told[1] != []
