"""CURL: soft actor-critic whose encoder also learns to tell crops of one observation from those of others.

Shapes: n observations, c channels of a stack of frames, s pixels of a crop's side, F features, d numbers of a summary,
a numbers of an action.
"""

from collections.abc import Callable, Iterator

import torch
from jaxtyping import Float
from torch import Tensor, nn

from hypersphere.arguments import Fraction, PositiveFloat, PositiveInt
from hypersphere.methods.base import Batch, Method, Output, Parts, chain, follow, frozen_copy
from hypersphere_control import soft_actor_critic as sac
from hypersphere_control.encoders.pixel_convnet import PixelConvnet
from hypersphere_control.replay import Transitions

GIVES = ("pair",)
KIND = "control"
ENCODERS = ("pixel_convnet",)


def summary(features: int, dim: int) -> nn.Module:
    """Features to a summary: a linear map and a layer norm, [n, F] to [n, d]."""
    return chain(linear=nn.Linear(features, dim), norm=nn.LayerNorm(dim))


def layers(width: int, hidden: int, out: int) -> nn.Module:
    """Two hidden layers with ReLU."""
    first, second, last = (
        nn.Linear(width, hidden),
        nn.Linear(hidden, hidden),
        nn.Linear(hidden, out),
    )
    return chain(first=first, relu1=nn.ReLU(), second=second, relu2=nn.ReLU(), last=last)


class Critic(nn.Module):
    """Two critics of one summary."""

    def __init__(self, dim: int, actions: int, hidden: int) -> None:
        super().__init__()
        self.first, self.second = (layers(dim + actions, hidden, 1) for _ in range(2))

    def forward(
        self, summary: Float[Tensor, "n d"], actions: Float[Tensor, "n a"]
    ) -> Float[Tensor, "2 n"]:
        """The value of each action by each critic."""
        joined = torch.cat([summary, actions], dim=1)
        return torch.stack([self.first(joined).squeeze(1), self.second(joined).squeeze(1)])


class Agent(Method):
    """Encoder, actor and critics, with slow targets of encoder and critics.

    The contrastive loss and the critics' train encoder and summary together; the actor's stops at the features.
    """

    encoder: PixelConvnet
    summary: nn.Module
    bilinear: nn.Linear
    actor: nn.Module
    critic: Critic
    log_temperature: nn.Parameter
    actions: int
    discount: float
    encoder_momentum: float
    critic_momentum: float
    initial: int
    actor_every: int
    targets_every: int

    def draw_initial(self, generator: Callable[[str], torch.Generator]) -> None:
        """Linear layers orthogonal, without bias; the bilinear map uniform from 0 to 1 (CURL's code, from memory)."""
        for name, module in self.named_modules():
            if isinstance(module, nn.Linear) and module is not self.bilinear:
                nn.init.orthogonal_(module.weight, generator=generator(f"{name}.weight"))
                nn.init.zeros_(module.bias)
        nn.init.uniform_(self.bilinear.weight, generator=generator("bilinear.weight"))

    @property
    def head(self) -> nn.Module:
        """The actor, so that a saved run can act; the contrastive embeddings are summaries, [n, d]."""
        return self.actor

    def begin(self) -> None:
        """Copy the initial weights to the targets."""
        self.target = frozen_copy(chain(encoder=self.encoder, summary=self.summary))
        self.target_critic = frozen_copy(self.critic)

    def move_targets(self) -> None:
        """Move both targets a part of the way to the new weights."""
        follow(
            self.target, chain(encoder=self.encoder, summary=self.summary), self.encoder_momentum
        )
        follow(self.target_critic, self.critic, self.critic_momentum)

    @property
    def of_actor(self) -> Iterator[nn.Parameter]:
        """What the actor's and the temperature's losses train, and no other loss does."""
        yield from self.actor.parameters()
        yield self.log_temperature

    def forward(self, batch: Batch) -> Output:
        """The contrastive loss of queries with their keys, q · W k; the views are two crops [2, n, c, s, s].

        Unlike those of other methods, the embeddings carry gradients: the critics take them.
        """
        queries = self.summary(self.encoder(batch.views[0]))
        with torch.no_grad():
            keys = self.target(batch.views[1])
        return Output(self.objective(self.gradient(queries), self.bilinear(keys)), queries)

    def critic_loss(
        self, summary: Float[Tensor, "n d"], seen: Transitions, noise: Float[Tensor, "n a"]
    ) -> Float[Tensor, ""]:
        """The critics' loss, in which the actor chooses the next actions and the targets say what they are worth."""
        with torch.no_grad():
            chosen = sac.drawn(self.actor(self.encoder(seen.following)), noise)
            values = self.target_critic(self.target(seen.following), chosen.actions)
            aim = sac.target(
                seen.rewards,
                values,
                chosen.log_probability,
                self.log_temperature.exp(),
                self.discount,
            )
        return sac.critic_loss(self.critic(summary, seen.actions), aim)

    def actor_losses(
        self, observations: Float[Tensor, "n c s s"], noise: Float[Tensor, "n a"]
    ) -> Float[Tensor, ""]:
        """The actor's loss plus the temperature's. Its gradient is for ``of_actor`` alone."""
        with torch.no_grad():
            features = self.encoder(observations)
            summary = self.summary(features)
        chosen, temperature = sac.drawn(self.actor(features), noise), self.log_temperature.exp()
        of_actor = sac.actor_loss(
            self.critic(summary, chosen.actions), chosen.log_probability, temperature.detach()
        )
        return of_actor + sac.temperature_loss(
            temperature, chosen.log_probability, -float(self.actions)
        )

    @torch.no_grad()
    def act(
        self, observation: Float[Tensor, "1 c s s"], noise: Float[Tensor, "1 a"]
    ) -> Float[Tensor, "a"]:
        """An action of the policy."""
        return sac.drawn(self.actor(self.encoder(observation)), noise).actions[0]


def curl(
    parts: Parts,
    *,
    actions: PositiveInt,
    dim: PositiveInt = 50,
    hidden: PositiveInt = 1024,
    discount: Fraction = 0.99,
    temperature: PositiveFloat = 0.1,
    encoder_momentum: Fraction = 0.95,
    critic_momentum: Fraction = 0.99,
    initial: PositiveInt = 1000,
    actor_every: PositiveInt = 2,
    targets_every: PositiveInt = 2,
) -> Method:
    """Laskin et al. 2020, Sec. 4 and Table 3 (defaults from memory), with any objective of two batches of embeddings.

    CURL's own is ``n_pair``: the softmax over q · W k, each query with its key against the batch's other keys.

    Args:
        actions: numbers of an action of the task.
        dim: length of a summary; actor and critics have one each, of the same features.
        hidden: of actor and critics, two layers.
        temperature: initial weight of the policy's entropy; the entropy aimed at is minus ``actions``.
        initial: an agent's steps with random actions, before its first update.
        actor_every: updates of the critics in one of the actor.
        targets_every: updates of the critics in one of the targets.
    """
    return Agent(
        parts,
        summary=summary(parts.features, dim),
        bilinear=nn.Linear(dim, dim, bias=False),
        actor=chain(summary=summary(parts.features, dim), layers=layers(dim, hidden, 2 * actions)),
        critic=Critic(dim, actions, hidden),
        log_temperature=nn.Parameter(torch.tensor(temperature).log()),
        actions=actions,
        discount=discount,
        encoder_momentum=encoder_momentum,
        critic_momentum=critic_momentum,
        initial=initial,
        actor_every=actor_every,
        targets_every=targets_every,
    )
