"""Training: one `Run` for all families, one `Objective` a family.

schedule.py        settings that every family shares; the rate of a step
objective.py       what a family has to say so that a run can train it
language_model.py  the BiLM's objective
contrastive.py     the contrastive encoder's objective
terms.py, words.py its losses, and the single words that join a batch
teacher.py         what a whole passage says about the sense of a word in it
optimizer.py       Adam or AdamW over groups of weights
folder.py          a run's files: settings, saved state
run.py             train(objective, ...) -> a record a step
"""

from ctxemb.training.contrastive import ContrastiveLearning, ContrastiveTrainingConfig
from ctxemb.training.folder import PROGRESS, RUN, STATE, RunState, TrainingError
from ctxemb.training.language_model import LanguageModelling, TrainingConfig, evaluate
from ctxemb.training.objective import Losses, Objective, ParameterGroup
from ctxemb.training.run import OnValidation, Run, train
from ctxemb.training.schedule import ScheduleConfig, compute_type, scheduled_rate

__all__ = [
    "PROGRESS",
    "RUN",
    "STATE",
    "ContrastiveLearning",
    "ContrastiveTrainingConfig",
    "LanguageModelling",
    "Losses",
    "Objective",
    "OnValidation",
    "ParameterGroup",
    "Run",
    "RunState",
    "ScheduleConfig",
    "TrainingConfig",
    "TrainingError",
    "compute_type",
    "evaluate",
    "scheduled_rate",
    "train",
]
