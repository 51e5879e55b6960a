"""Training of an agent on a control task: an epoch is an episode of 1,000 environment steps.

Shapes: n transitions in a batch, a numbers of an action.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from hypersphere import prng
from hypersphere.config import registry
from hypersphere.config.run import Run
from hypersphere.errors import HypersphereError
from hypersphere.methods.base import Batch, Output
from hypersphere.training import loop, optimisation, work
from hypersphere.training.build import build_method
from hypersphere.training.checkpoint import Checkpointer, Progress
from hypersphere.training.loop import Execution
from hypersphere_control.environment import Environment, Settings, random_actions
from hypersphere_control.methods.curl import Agent
from hypersphere_control.replay import Replay, Transitions, crop

if TYPE_CHECKING:
    from hypersphere.datasets.store import Prepared

TEMPERATURE_RATE, TEMPERATURE_BETAS = 1e-4, (0.5, 0.999)
"""Adam's for the temperature (CURL's Table 3, from memory)."""


def pretrain(run: Run, data: "Prepared | None", execution: Execution, folder: Path) -> Progress:
    """Train an agent while it acts, or resume it: see ``loop.epochs``. The history also has each episode's return.

    The resume state holds all that the agent has seen. It is saved between episodes, so that no simulator's state is.
    The prepared frames are not used; their digest names the renderer.
    """
    environment, agent = Environment(Settings.of(run.dataset.source)), build_method(run)
    assert isinstance(agent, Agent)
    settings, schedule = environment.settings, run.schedule
    for wrong, field, problem in (
        (
            agent.actions != environment.actions,
            "method.actions",
            f"{settings.task} takes {environment.actions}",
        ),
        (agent.encoder.size > settings.size, "encoder.size", f"frames have {settings.size} pixels"),
        (run.optimiser.name != "adam", "optimiser.name", "agents take adam"),
        (
            schedule.shape != "constant" or schedule.warmup,
            "schedule",
            "agents take shape: constant and warmup: 0",
        ),
        (run.batch.size != run.batch.micro, "batch.micro", "agents take a batch in one pass"),
    ):
        if wrong:
            raise HypersphereError(f"run {run.name}: {field}: {problem}")
    agent.to(execution.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    replay = Replay(
        schedule.epochs, settings.steps, agent.actions, settings.size, agent.encoder.frames
    )
    optimiser = optimisation.build(agent, run.optimiser)
    for group in optimiser.param_groups:
        group["params"] = [
            parameter for parameter in group["params"] if parameter is not agent.log_temperature
        ]
    optimisation.set_rate(optimiser, optimisation.peak_rate(run), 1.0)
    of_temperature = {
        "params": [agent.log_temperature],
        "lr": TEMPERATURE_RATE,
        "betas": TEMPERATURE_BETAS,
    }
    optimiser.add_param_group(of_temperature | {"weight_decay": 0.0})
    episodes = _Episodes(run, agent, replay, environment, optimiser, execution.device)
    state = nn.ModuleDict({"agent": agent, "replay": replay})
    return loop.epochs(run, agent, state, optimiser, episodes.take, execution, folder)


def steps(run: Run) -> int:
    """An agent takes an optimiser step after each step of its own, once the random ones are over."""
    method: Any = registry.schema("methods", run.method.name).model_validate(run.method.parameters)
    return Settings.of(run.dataset.source).steps * run.schedule.epochs - method.initial + 1


def flops(agent: Agent, count: int, size: float) -> int:
    """One update of the critics and the contrastive loss, and the actor's share of one, which is due less often.

    What an agent sees has the size of its encoder, whatever that of the frames.
    """
    side = agent.encoder.size
    crops = torch.empty(count, 3 * agent.encoder.frames, side, side)
    actions, rewards = torch.empty(count, agent.actions), torch.empty(count)

    def critics() -> None:
        output = agent(Batch(torch.stack([crops, crops]), rewards.long(), rewards.long()))
        seen = Transitions(crops, crops, crops, actions, rewards)
        (output.loss + agent.critic_loss(output.embeddings, seen, actions)).backward()

    def actor() -> None:
        agent.actor_losses(crops, actions).backward(inputs=list(agent.of_actor))

    return work.counted(critics) + work.counted(actor) // agent.actor_every


@dataclass(frozen=True)
class _Episodes:
    """Takes an agent through episodes, with one update after each of its steps."""

    run: Run
    agent: Agent
    replay: Replay
    environment: Environment
    optimiser: torch.optim.Optimizer
    device: torch.device

    def take(self, progress: Progress, checkpointer: Checkpointer) -> dict[str, float]:
        """Take the next episode. Returns its row: mean loss and norm of its updates, and the sum of its rewards.

        An episode without updates, because the agent still acts at random, has the loss of one batch. The loss is not
        a number if the policy's actions are none, which ends training.
        """
        start, episode, steps = time.perf_counter(), progress.epochs, self.replay.steps
        self.agent.train()
        self.replay.begin(episode, self.environment.reset(self.run.seed, "episode", episode))
        total, updates, returned = torch.zeros(2, dtype=torch.float64), 0, 0.0
        for step in range(steps):
            moment = self.run.seed, "action", episode, step
            if episode * steps + step < self.agent.initial:  # before the first update
                action = random_actions((self.agent.actions,), *moment).astype(np.float32)
            else:
                seen = self.replay.observations(torch.tensor([episode]), torch.tensor([step]))
                noise = self._noise(1, "action", episode, step)
                action = (
                    self.agent.act(crop(seen, self.agent.encoder.size).to(self.device), noise)
                    .cpu()
                    .numpy()
                )
            if not np.isfinite(action).all():
                total += torch.nan
                break
            frame, reward = self.environment.act(action)
            self.replay.add(episode, step, action, reward, frame)
            returned += reward
            stored = episode * steps + step + 1
            if stored >= self.agent.initial:
                total += self._update(stored, (episode, step))
                progress.step, updates = progress.step + 1, updates + 1
        if not updates:
            total += self._losses(episode * steps + steps, (episode, 0))[0]
        progress.seconds += time.perf_counter() - start
        loss, norm = (total / max(updates, 1)).tolist()
        rate = self.optimiser.param_groups[0]["lr"]
        return {
            "epoch": episode + 1,
            "loss": loss,
            "norm": norm,
            "learning_rate": rate,
            "return": returned,
        }

    def _noise(self, count: int, *purpose: str | int) -> Float[Tensor, "count a"]:
        generator = torch.Generator().manual_seed(prng.torch_seed(self.run.seed, *purpose))
        return torch.randn(count, self.agent.actions, generator=generator).to(self.device)

    def _losses(
        self, stored: int, moment: tuple[int, int]
    ) -> tuple[Float[Tensor, "2"], Output, Transitions]:
        """Contrastive loss and mean norm as numbers, the method's output, and the transitions, which are drawn."""
        count, side = self.run.batch.size, self.agent.encoder.size
        drawn = self.replay.sample(stored, count, side, self.run.seed, "replay", *moment)
        seen = Transitions(*(part.to(self.device) for part in drawn))
        places = torch.zeros(count, dtype=torch.int64, device=self.device)
        output: Output = self.agent(
            Batch(torch.stack([seen.anchors, seen.positives]), places, places)
        )
        norm = torch.linalg.vector_norm(output.embeddings.detach(), dim=1).mean()
        return torch.stack([output.loss.detach(), norm]).double().cpu(), output, seen

    def _update(self, stored: int, moment: tuple[int, int]) -> Float[Tensor, "2"]:
        """One step of Adam, over all losses that are due. Returns contrastive loss and mean norm."""
        count, done = self.run.batch.size, stored - self.agent.initial
        self.optimiser.zero_grad(set_to_none=True)
        numbers, (loss, summary), seen = self._losses(stored, moment)
        (
            loss + self.agent.critic_loss(summary, seen, self._noise(count, "critic", *moment))
        ).backward()
        if done % self.agent.actor_every == 0:
            losses = self.agent.actor_losses(seen.anchors, self._noise(count, "actor", *moment))
            losses.backward(inputs=list(self.agent.of_actor))
        self.optimiser.step()
        if done % self.agent.targets_every == 0:
            self.agent.move_targets()
        return numbers
