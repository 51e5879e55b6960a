"""Training of an agent on a control task: an epoch is an episode of 1,000 environment steps.

Shapes: n transitions in a batch, a numbers of an action.
"""

import time
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
from hypersphere.training.checkpoint import Progress
from hypersphere.training.loop import Execution
from hypersphere_control.environment import Environment, Settings, random_actions
from hypersphere_control.methods.curl import Agent
from hypersphere_control.replay import Replay, Transitions, crop

if TYPE_CHECKING:
    from hypersphere.datasets.store import Prepared

TEMPERATURE_RATE, TEMPERATURE_BETAS = 1e-4, (0.5, 0.999)
"""Adam's for the temperature (CURL's Table 3, from memory)."""


def pretrain(run: Run, data: "Prepared | None", execution: Execution, folder: Path) -> Progress:
    """Train an agent while it acts, or resume it: see ``loop.Training``. The history also has each episode's return.

    The prepared frames are not used; their digest names the renderer.
    """
    environment = Environment(Settings.of(run.dataset.source))
    agent = build_method(run)
    assert isinstance(agent, Agent)
    refuse_misfits(run, agent, environment)
    return Episodes(run, agent, environment, execution, folder).train()


def refuse_misfits(run: Run, agent: Agent, environment: Environment) -> None:
    """Raise unless the run's fields fit the task, and what agents are trained by."""
    task, schedule = environment.settings, run.schedule

    def demand(fits: bool, field: str, sentence: str) -> None:
        if not fits:
            raise HypersphereError(f"run {run.name}: {field}: {sentence}")

    takes = f"{task.task} takes {environment.actions}"
    demand(agent.actions == environment.actions, "method.actions", takes)
    demand(agent.encoder.size <= task.size, "encoder.size", f"frames have {task.size} pixels")
    demand(run.optimiser.name == "adam", "optimiser.name", "agents take adam")
    steady = schedule.shape == "constant" and not schedule.warmup
    demand(steady, "schedule", "agents take shape: constant and warmup: 0")
    demand(run.batch.size == run.batch.micro, "batch.micro", "agents take a batch in one pass")


def optimiser_of(agent: Agent, run: Run) -> torch.optim.Optimizer:
    """Adam of the run's rate for all weights but the temperature, which has a rate and betas of its own."""
    temperature = agent.log_temperature
    optimiser = optimisation.build(agent, run.optimiser)
    for group in optimiser.param_groups:
        group["params"] = [weight for weight in group["params"] if weight is not temperature]
    optimisation.set_rate(optimiser, optimisation.peak_rate(run), 1.0)
    group_of_temperature = {
        "params": [temperature],
        "lr": TEMPERATURE_RATE,
        "betas": TEMPERATURE_BETAS,
        "weight_decay": 0.0,
    }
    optimiser.add_param_group(group_of_temperature)
    return optimiser


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


class Episodes(loop.Training):
    """An agent's training: an epoch is an episode, with one update after each of the agent's steps.

    The state to resume from holds all that the agent has seen. It is saved between episodes, so that no simulator's
    state is.
    """

    def __init__(
        self,
        run: Run,
        agent: Agent,
        environment: Environment,
        execution: Execution,
        folder: Path,
    ) -> None:
        self.agent = agent
        self.environment = environment
        self.device = execution.device
        agent.to(self.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        task = environment.settings
        self.replay = Replay(
            run.schedule.epochs, task.steps, agent.actions, task.size, agent.encoder.frames
        )
        state = nn.ModuleDict({"agent": agent, "replay": self.replay})
        optimiser = optimiser_of(agent, run)
        super().__init__(run, agent, optimiser, execution, folder, task.steps, state)

    def epoch(self) -> dict[str, float]:
        """Take the next episode. Returns its row: mean loss and norm of its updates, and the sum of its rewards.

        An episode without updates, because the agent still acts at random, has the loss of one batch. The loss is not
        a number if the policy's actions are none, which ends training.
        """
        start = time.perf_counter()
        progress, steps = self.progress, self.replay.steps
        episode = progress.epochs
        self.agent.train()
        self.replay.begin(episode, self.environment.reset(self.run.seed, "episode", episode))
        total = torch.zeros(2, dtype=torch.float64)
        updates = 0
        returned = 0.0
        for step in range(steps):
            action = self._action(episode, step)
            if not np.isfinite(action).all():
                total += torch.nan
                break
            frame, reward = self.environment.act(action)
            self.replay.add(episode, step, action, reward, frame)
            returned += reward
            self.sign_of_life.beat()
            stored = episode * steps + step + 1
            if stored >= self.agent.initial:
                total += self._update(stored, (episode, step))
                progress.step += 1
                updates += 1
        if not updates:
            total += self._losses(episode * steps + steps, (episode, 0))[0]
        progress.seconds += time.perf_counter() - start
        loss, norm = (total / max(updates, 1)).tolist()
        return {
            "epoch": episode + 1,
            "loss": loss,
            "norm": norm,
            "learning_rate": self.optimiser.param_groups[0]["lr"],
            "return": returned,
        }

    def _action(self, episode: int, step: int) -> Float[np.ndarray, "a"]:
        """The agent's action; before the first update, one drawn uniformly."""
        if episode * self.replay.steps + step < self.agent.initial:
            moment = self.run.seed, "action", episode, step
            return random_actions((self.agent.actions,), *moment).astype(np.float32)
        frames = self.replay.observations(torch.tensor([episode]), torch.tensor([step]))
        seen = crop(frames, self.agent.encoder.size).to(self.device)
        action = self.agent.act(seen, self._noise(1, "action", episode, step))
        return action.cpu().numpy()

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
        views = torch.stack([seen.anchors, seen.positives])
        output: Output = self.agent(Batch(views, places, places))
        norm = torch.linalg.vector_norm(output.embeddings.detach(), dim=1).mean()
        return torch.stack([output.loss.detach(), norm]).double().cpu(), output, seen

    def _update(self, stored: int, moment: tuple[int, int]) -> Float[Tensor, "2"]:
        """One step of Adam, over all losses that are due. Returns contrastive loss and mean norm."""
        count = self.run.batch.size
        done = stored - self.agent.initial
        self.optimiser.zero_grad(set_to_none=True)
        numbers, (loss, summary), seen = self._losses(stored, moment)
        noise = self._noise(count, "critic", *moment)
        (loss + self.agent.critic_loss(summary, seen, noise)).backward()
        if done % self.agent.actor_every == 0:
            losses = self.agent.actor_losses(seen.anchors, self._noise(count, "actor", *moment))
            losses.backward(inputs=list(self.agent.of_actor))
        self.optimiser.step()
        if done % self.agent.targets_every == 0:
            self.agent.move_targets()
        return numbers
