import itertools
import math
import subprocess
import sys

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from torch import Tensor, nn
from torch.nn import functional as F

from ctxemb import Encoder
from ctxemb.batching import Batch, make_batch
from ctxemb.checkpoint import load_checkpoint, save_checkpoint
from ctxemb.losses import cosines, info_nce
from ctxemb.models.contrastive import Contrastive, ContrastiveConfig
from ctxemb.models.families import build_model
from ctxemb.text import BOS, EOS, NUM_SPECIAL, UNK, TextConfig, WordTokenizer

V, SPAN = 40, 2
SENTENCES = [[7, 20, 35, 9, 7], [12], [30, 31, 5, 8, 39, 4, 17, 22, 10], [6, 6]]
READOUTS = ContrastiveConfig.readouts
VARIANTS = [
    {"attention_heads": heads, "lstm_layers": layers, "embedding_size": E, "hidden_size": H}
    for heads, layers, (E, H) in itertools.product([0, 3], [1, 2], [(6, 8), (10, 3)])  # 2H above and below E
]
TEXT = TextConfig(min_frequency=1)


def sizes(**changes: object) -> ContrastiveConfig:
    settings = {"vocabulary_size": V, "embedding_size": 6, "hidden_size": 8, "attention_span": SPAN}
    return ContrastiveConfig.model_validate(settings | {"attention_heads": 3} | changes)


def random_model(seed: int = 0, **changes: object) -> Contrastive:
    """A module in evaluation mode whose weights are large enough for every input to matter."""
    model = Contrastive(sizes(**changes)).eval()
    torch.manual_seed(seed)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.7)
    return model


def name_of(variant: dict[str, int]) -> str:
    return "heads{attention_heads}-layers{lstm_layers}-E{embedding_size}-H{hidden_size}".format(**variant)


@pytest.fixture(scope="module", params=VARIANTS, ids=name_of)
def model(request) -> Contrastive:
    return random_model(**request.param)


@pytest.fixture(autouse=True)
def no_gradients():
    with torch.no_grad():
        yield


@pytest.fixture(scope="module")
def tokenizer() -> WordTokenizer:
    return WordTokenizer.train(["one two three four five six seven eight nine ten"], TEXT)


# one sentence, one word, one number at a time


def naive_states(model: Contrastive, words: list[int]) -> list[Tensor]:
    """torch's own LSTMs over `<bos> words <eos>`, unpadded: (T + 2, 2H) a layer; state t has read word t - 1."""
    embedded_TE = model.embedding.weight[[BOS, *words, EOS]]
    num_layers, H = model.config.lstm_layers, model.config.hidden_size
    layers = []
    for num_stacked in range(1, num_layers + 1):
        halves = []
        for lstms, is_backward in ((model.forward_lstms, False), (model.backward_lstms, True)):
            stack = nn.LSTM(model.config.embedding_size, H, num_stacked)
            names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            stack.load_state_dict(
                {f"{n}_l{i}": getattr(lstms[i], f"{n}_l0") for n in names for i in range(num_stacked)}
            )
            read_TE = embedded_TE.flip(0) if is_backward else embedded_TE
            states_TH = stack(read_TE)[0]
            halves.append(states_TH.flip(0) if is_backward else states_TH)
        layers.append(torch.cat(halves, dim=1))
    return layers


def naive_attention(model: Contrastive, words: list[int], position: int) -> list[list[float]]:
    """For each head, the share of every word of the sentence in the context of one."""
    heads = []
    for head in range(model.config.attention_heads):
        scores = {
            s: model.importance.weight[word, head].item()
            + model.distance[head, max(-SPAN, min(s - position, SPAN)) + SPAN].item()
            for s, word in enumerate(words)
            if s != position
        }
        total = sum(map(math.exp, scores.values()))
        heads.append([math.exp(scores[s]) / total if s in scores else 0.0 for s in range(len(words))])
    return heads


def naive_norm(model: Contrastive, vector_D: Tensor) -> Tensor:
    centred_D = vector_D - vector_D.mean()
    return centred_D / (centred_D.square().mean() + 1e-5).sqrt() * model.norm.weight + model.norm.bias


def around(states_TD: Tensor, position: int) -> Tensor:
    """Read-out `context`: forward before the word, backward after it."""
    H = states_TD.shape[1] // 2
    return torch.cat([states_TD[position, :H], states_TD[position + 2, H:]])


def naive_layers(model: Contrastive, words: list[int], position: int, readout: str) -> list[Tensor]:
    config = model.config
    word_E, states = model.embedding.weight[words[position]], naive_states(model, words)
    context_D = model.project_states.weight @ around(states[-1], position)
    if config.attention_heads:
        pooled = [
            sum(share * model.embedding.weight[word] for share, word in zip(shares, words, strict=True))
            for shares in naive_attention(model, words, position)
        ]
        context_D = context_D + model.project_words.weight @ torch.cat(pooled)
    if readout == "here":
        context_D = context_D + model.project_target.weight @ word_E
    shown = [around(s, position) if readout == "context" else s[position + 1] for s in states]
    padded = [torch.cat([v, torch.zeros(config.width - len(v))]) for v in (word_E, *shown)]
    return [*padded, naive_norm(model, context_D)]


def naive_sentence(model: Contrastive, words: list[int]) -> Tensor:
    if not model.config.attention_heads:
        return naive_norm(model, model.project_target.weight @ model.embedding.weight[words].mean(dim=0))
    pooled = []
    for head in range(model.config.attention_heads):
        shares = [math.exp(model.importance.weight[word, head].item()) for word in words]
        pooled += [sum(s * model.embedding.weight[w] for s, w in zip(shares, words, strict=True)) / sum(shares)]
    return naive_norm(model, model.project_words.weight @ torch.cat(pooled))


def replaced(sentence: list[int], position: int) -> list[int]:
    return [*sentence[:position], 38 if sentence[position] != 38 else 11, *sentence[position + 1 :]]


@pytest.mark.parametrize("readout", READOUTS)
def test_layers_agree_with_a_naive_loop(model, readout):
    layers_LBTD = model.layers(make_batch(SENTENCES), readout)
    assert layers_LBTD.shape == (model.config.num_layers + 1, 4, 9, model.config.width)
    for b, words in enumerate(SENTENCES):
        for t in range(len(words)):
            expected_LD = torch.stack(naive_layers(model, words, t, readout))
            torch.testing.assert_close(layers_LBTD[:, b, t], expected_LD, atol=1e-5, rtol=1e-5)


def test_a_single_layer_agrees_with_torchs_bidirectional_lstm():
    model = random_model(attention_heads=0, lstm_layers=1)
    both = nn.LSTM(6, 8, bidirectional=True)
    halves = {"": model.forward_lstms[0], "_reverse": model.backward_lstms[0]}
    both.load_state_dict(
        {name + end: value for end, lstm in halves.items() for name, value in lstm.state_dict().items()}
    )
    for words in SENTENCES:
        expected_TD = both(model.embedding.weight[[BOS, *words, EOS]])[0]
        batch = make_batch([words])
        torch.testing.assert_close(model.layers(batch, "here")[1, 0], expected_TD[1:-1], atol=1e-5, rtol=1e-5)
        context_TD = torch.cat([expected_TD[:-2, :8], expected_TD[2:, 8:]], dim=1)
        torch.testing.assert_close(model.layers(batch, "context")[1, 0], context_TD, atol=1e-5, rtol=1e-5)


def test_sentence_vectors_agree_with_a_naive_loop(model):
    sentences_BD = model.sentence_vectors(make_batch(SENTENCES))
    expected_BD = torch.stack([naive_sentence(model, words) for words in SENTENCES])
    torch.testing.assert_close(sentences_BD, expected_BD, atol=1e-5, rtol=1e-5)


def test_sentence_vectors_do_not_know_the_order_of_words(model):
    ordered_BD, shuffled_BD = (
        model.sentence_vectors(make_batch([words])) for words in (SENTENCES[2], sorted(SENTENCES[2]))
    )
    torch.testing.assert_close(ordered_BD, shuffled_BD, atol=1e-5, rtol=1e-5)
    assert (ordered_BD - model.sentence_vectors(make_batch([SENTENCES[0]]))).abs().max() > 0.01


# what a training step sees is what is read later


@pytest.mark.parametrize("readout", READOUTS)
def test_a_training_pass_agrees_with_reading(model, readout):
    batch = make_batch(SENTENCES)
    rows_N, positions_N = torch.tensor([2, 0, 0, 3, 1, 2]), torch.tensor([8, 0, 4, 1, 0, 3])  # sentences serve many
    contexts_ND, words_ND, sentences_BD = model(batch, rows_N, positions_N, batch.ids_BT[rows_N, positions_N])
    vectors_ND = model.join(contexts_ND, words_ND if readout == "here" else None)
    expected_ND = model.layers(batch, readout)[-1][rows_N, positions_N]
    torch.testing.assert_close(vectors_ND, expected_ND, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(sentences_BD, model.sentence_vectors(batch))


def test_words_are_projected_on_their_own():
    model, words_K = random_model(), torch.tensor([5, 39, 5])
    nothing = torch.zeros(0, dtype=torch.int64)
    contexts_ND, words_KD, _ = model(make_batch(SENTENCES), nothing, nothing, words_K)
    assert contexts_ND.shape == (0, 16)
    expected_KD = torch.stack([model.project_target.weight @ model.embedding.weight[word] for word in (5, 39, 5)])
    torch.testing.assert_close(words_KD, expected_KD)


def test_joining_takes_any_leading_shape_and_normalises():
    model = Contrastive(sizes()).eval()
    contexts_NMD, words_ND = torch.randn(3, 4, 16), torch.randn(3, 16)
    joined_NMD = model.join(contexts_NMD, words_ND[:, None])
    torch.testing.assert_close(joined_NMD[1, 2], model.join(contexts_NMD[1, 2] + words_ND[1]))
    torch.testing.assert_close(joined_NMD.mean(dim=-1), torch.zeros(3, 4), atol=1e-6, rtol=0)
    torch.testing.assert_close(joined_NMD.var(dim=-1, correction=0), torch.ones(3, 4), atol=1e-4, rtol=0)


# a sentence depends on itself alone


@pytest.mark.parametrize("readout", READOUTS)
def test_a_batch_of_one_equals_a_batch_of_many_in_any_order(model, readout):
    together, shuffled = (model.layers(make_batch(sentences), readout) for sentences in (SENTENCES, SENTENCES[::-1]))
    for b, words in enumerate(SENTENCES):
        alone = model.layers(make_batch([words]), readout)[:, 0]
        torch.testing.assert_close(together[:, b, : len(words)], alone, atol=1e-5, rtol=0)
        torch.testing.assert_close(shuffled[:, -1 - b, : len(words)], alone, atol=1e-5, rtol=0)


def test_sentence_vectors_and_training_passes_do_not_depend_on_neighbours(model):
    rows_N, ones_N = torch.arange(4), torch.zeros(4, dtype=torch.int64)
    together = model(make_batch(SENTENCES), rows_N, ones_N, ones_N + 5)
    for b, words in enumerate(SENTENCES):
        alone = model(make_batch([words]), rows_N[:1], ones_N[:1], ones_N[:1] + 5)
        for many, one in zip(together, alone, strict=True):
            torch.testing.assert_close(many[b], one[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize("readout", READOUTS)
def test_what_stands_in_padding_cells_changes_nothing(model, readout):
    batch = make_batch(SENTENCES)
    filled = Batch(torch.where(batch.ids_BT == 0, 33, batch.ids_BT), batch.lengths_B)
    inside_BT = torch.arange(9) < batch.lengths_B[:, None]
    assert torch.equal(model.layers(batch, readout)[:, inside_BT], model.layers(filled, readout)[:, inside_BT])
    assert torch.equal(model.sentence_vectors(batch), model.sentence_vectors(filled))
    rows_N, positions_N = torch.arange(4), batch.lengths_B - 1
    results = [model(b, rows_N, positions_N, rows_N) for b in (batch, filled)]
    for clean, dirty in zip(*results, strict=True):
        assert torch.equal(clean, dirty)


@pytest.mark.parametrize("sentences", [[[12]], [[12], [UNK]], [[12], SENTENCES[2]], []], ids=str)
def test_a_sentence_of_one_word_is_no_nan(model, sentences):
    batch = make_batch(sentences)
    positions_N = torch.zeros(len(sentences), dtype=torch.int64)
    results = [model.layers(batch, readout) for readout in READOUTS]
    results += [model.sentence_vectors(batch), *model(batch, torch.arange(len(sentences)), positions_N, positions_N)]
    if model.config.attention_heads:
        results.append(model.attention(batch))
        assert not results[-1][:1, :1].any()  # the only word has no context
    assert all(torch.isfinite(result).all() for result in results)


# no leak


def test_the_context_of_a_word_does_not_know_it_and_its_own_vector_does(model):
    words = SENTENCES[2]
    rest = [t for t in range(len(words)) if t != 4]
    for readout, is_same in (("context", True), ("here", False)):
        before_LTD, after_LTD = (model.layers(make_batch([w]), readout)[:, 0] for w in (words, replaced(words, 4)))
        for layer in range(1, model.config.num_layers + 1):
            assert torch.equal(before_LTD[layer, 4], after_LTD[layer, 4]) is is_same
            # the test can fail: every other word sees the change, at one of its sides at least
            assert (before_LTD[layer, rest] - after_LTD[layer, rest]).abs().amax(dim=1).min() > 1e-4
        assert not torch.equal(before_LTD[0, 4], after_LTD[0, 4])


def test_the_context_in_training_does_not_know_the_word_either(model):
    one_N = torch.tensor([0])
    before, after = (
        model(make_batch([words]), one_N, one_N + 4, one_N)[0] for words in (SENTENCES[2], replaced(SENTENCES[2], 4))
    )
    assert torch.equal(before, after)


# two uses of a word


@pytest.mark.parametrize("readout", READOUTS)
def test_two_uses_are_one_vector_at_layer_0_and_two_above(model, readout):
    layers_LBTD = model.layers(make_batch([[7, 20, 35, 9], [12, 31, 7, 4]]), readout)
    first_LD, second_LD = layers_LBTD[:, 0, 0], layers_LBTD[:, 1, 2]
    assert torch.equal(first_LD[0], second_LD[0])
    cosines = F.cosine_similarity(first_LD, second_LD, dim=-1).tolist()
    assert cosines[0] == pytest.approx(1, abs=1e-6)
    assert max(cosines[1:]) < 0.9995


def test_layer_0_is_the_embedding_padded_with_zeros(model):
    E = model.config.embedding_size
    layer_0 = model.layers(make_batch(SENTENCES))[0, 2, 3]
    assert torch.equal(layer_0[:E], model.word_vectors()[8])
    assert not layer_0[E:].any()
    assert (model.config.width, model.word_vectors().shape) == (max(2 * model.config.hidden_size, E), (V, E))


# attention


def test_attention_by_hand():
    model = random_model(attention_heads=1, attention_span=1)
    model.importance.weight.zero_()
    model.importance.weight[9] = math.log(3)
    model.distance.copy_(torch.tensor([[math.log(2), 5.0, 0.0]]))  # before, the word itself, after
    attention_TT = model.attention(make_batch([[5, 6, 9]]))[0]
    expected = [[0, 1 / 4, 3 / 4], [2 / 5, 0, 3 / 5], [1 / 2, 1 / 2, 0]]
    torch.testing.assert_close(attention_TT, torch.tensor(expected))


def test_attention_agrees_with_a_naive_loop_and_leaves_out_the_word_and_padding():
    model, batch = random_model(), make_batch(SENTENCES)
    attention_BTT = model.attention(batch)
    assert attention_BTT.shape == (4, 9, 9)
    for b, words in enumerate(SENTENCES):
        num_words = len(words)
        assert not attention_BTT[b].diagonal()[:num_words].any()
        assert not attention_BTT[b, :num_words, num_words:].any()
        sums_T = attention_BTT[b, :num_words].sum(dim=-1)
        torch.testing.assert_close(sums_T, torch.full((num_words,), float(num_words > 1)))
        for t in range(num_words):
            expected_T = torch.tensor(naive_attention(model, words, t)).mean(dim=0)
            torch.testing.assert_close(attention_BTT[b, t, :num_words], expected_T)


@pytest.mark.parametrize("shift", [-200.0, -40.0, 40.0])
def test_attention_compares_words_with_each_other_only(shift):
    model, batch = random_model(), make_batch(SENTENCES)
    before_BTT, sentences_BD = model.attention(batch), model.sentence_vectors(batch)
    model.importance.weight.add_(shift)
    torch.testing.assert_close(model.attention(batch), before_BTT, atol=1e-4, rtol=0)
    torch.testing.assert_close(model.sentence_vectors(batch), sentences_BD, atol=1e-3, rtol=0)


# a start from ready word vectors


def test_a_start_by_hand():
    model = Contrastive(sizes(vocabulary_size=6, embedding_size=2, hidden_size=2))
    model.importance.weight.zero_()
    # special ids count for nothing; the words have 3/4 and 1/4 of the text, so its mean is (0.75, 0.25)
    vectors_VE = np.array([[9, 9], [9, 9], [9, 9], [9, 9], [1, 0], [0, 1]])
    embedding_VE = model.start_from(vectors_VE, np.array([100, 100, 100, 100, 3, 1]))
    size = math.sqrt((0.125 + 1.125) / 6)
    expected = np.array([[0, 0]] * 4 + [[0.25, -0.25], [-0.75, 0.75]]) / size
    np.testing.assert_allclose(embedding_VE, expected, rtol=1e-6)
    assert embedding_VE.dtype == np.float32
    assert np.array_equal(model.word_vectors().numpy(), embedding_VE)
    importance_V = [-8.0] * 4 + [math.log(1e-4 / (1e-4 + share)) for share in (0.75, 0.25)]
    np.testing.assert_allclose(model.importance.weight, np.repeat(np.array(importance_V)[:, None], 3, 1), rtol=1e-6)


def test_a_start_returns_a_copy_and_works_without_attention_and_text():
    model = Contrastive(sizes(attention_heads=0))
    embedding_VE = model.start_from(np.random.default_rng(0).normal(size=(V, 6)), np.zeros(V))
    kept_VE = model.word_vectors().clone()
    assert np.isfinite(embedding_VE).all()
    embedding_VE[:] = 0
    assert torch.equal(model.word_vectors(), kept_VE)
    assert np.isfinite(Contrastive(sizes()).start_from(np.ones((V, 6)), np.ones(V))).all()


def test_a_start_from_vectors_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"vectors are \(40, 7\), but the encoder's embedding is \(40, 6\)"):
        Contrastive(sizes()).start_from(np.zeros((V, 7)), np.ones(V))


def bag_of_context(vectors_VE: np.ndarray, counts_V: np.ndarray, words: list[int], position: int) -> np.ndarray:
    """Centred vectors of the other words, each by its smooth inverse frequency; special ids count for nothing."""
    shares = {word: counts_V[word] / counts_V[NUM_SPECIAL:].sum() for word in range(NUM_SPECIAL, V)}
    mean_E = sum(share * vectors_VE[word] for word, share in shares.items())
    others = [word for t, word in enumerate(words) if t != position and word >= NUM_SPECIAL]
    return sum(1e-4 / (1e-4 + shares[word]) * (vectors_VE[word] - mean_E) for word in others)


def cosine(first: np.ndarray, second: np.ndarray) -> float:
    return float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_an_untrained_encoder_that_starts_from_word_vectors_is_a_bag_of_context(dropout):
    rng = np.random.default_rng(0)
    vectors_VE = rng.normal(size=(V, 6)) + 1
    counts_V = rng.integers(1, 3_000, V) * (np.arange(V) != 1)
    torch.manual_seed(0)
    model = Contrastive(sizes(hidden_size=32, dropout=dropout)).eval()
    model.project_states.weight.zero_()
    model.importance.weight.zero_()
    model.start_from(vectors_VE, counts_V)
    sentences = [rng.integers(UNK, V, length).tolist() for length in (4, 7, 7, 12, 20, 30)]
    uses = [(b, t) for b, words in enumerate(sentences) for t in range(0, len(words), 3)]
    vectors_BTD = model.layers(make_batch(sentences), "context")[-1].numpy()
    bags = [bag_of_context(vectors_VE, counts_V, sentences[b], t) for b, t in uses]
    pairs = list(itertools.combinations(range(len(uses)), 2))
    found = [cosine(vectors_BTD[uses[i]], vectors_BTD[uses[j]]) for i, j in pairs]
    # LayerNorm takes one direction of the D away, so the cosines are exact for the bag that is turned and centred
    turn_DE = 3 * model.project_words.weight[:, :6].numpy()
    np.testing.assert_allclose(turn_DE.T @ turn_DE, np.eye(6), atol=1e-5)
    turned = [turn_DE @ bag - (turn_DE @ bag).mean() for bag in bags]
    assert found == pytest.approx([cosine(turned[i], turned[j]) for i, j in pairs], abs=1e-3)
    assert found == pytest.approx([cosine(bags[i], bags[j]) for i, j in pairs], abs=0.15)
    assert np.corrcoef(found, [cosine(bags[i], bags[j]) for i, j in pairs])[0, 1] > 0.99


# training mode


@pytest.mark.parametrize("variant", VARIANTS, ids=name_of)
def test_a_loss_over_everything_reaches_every_parameter(variant):
    torch.manual_seed(0)
    model = Contrastive(sizes(**variant, dropout=0.1)).train()
    batch = make_batch(SENTENCES)  # one of them has no context to attend to
    rows_N, positions_N = torch.arange(4), torch.tensor([1, 0, 8, 0])
    with torch.enable_grad():
        contexts_ND, words_ND, sentences_BD = model(batch, rows_N, positions_N, batch.ids_BT[rows_N, positions_N])
        vectors = [model.join(contexts_ND), model.join(contexts_ND, words_ND), sentences_BD]
        loss = sum((vectors_ND * torch.randn(vectors_ND.shape)).sum() for vectors_ND in vectors)
        loss.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name
        assert parameter.grad.any(), name


def test_dropout_acts_in_training_only():
    model = random_model(dropout=0.5)
    batch, one_N = make_batch(SENTENCES), torch.tensor([0])
    for is_training in (False, True):
        model.train(is_training)
        first, second = (model(batch, one_N, one_N, one_N) for _ in range(2))
        assert torch.equal(first[0], second[0]) is not is_training
        assert torch.equal(first[2], second[2]) is not is_training


def test_contrasting_uses_teaches_an_untrained_encoder_to_tell_them_apart():
    # word 4 stands after six words, and one of them, which may be anywhere, decides what it means
    rng = np.random.default_rng(0)
    senses = rng.integers(2, size=400)
    sentences = [[*rng.permutation([30 + 3 * sense + rng.integers(3), *rng.integers(5, 30, 5)]), 4] for sense in senses]
    torch.manual_seed(0)
    model = Contrastive(sizes())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    first = torch.arange(200)
    own_NN = torch.eye(200, dtype=torch.bool)
    targets_NN = torch.from_numpy(senses[:200, None] == senses[:200]).masked_fill(own_NN, False).float()
    targets_NN /= targets_NN.sum(dim=1, keepdim=True)

    def accuracy() -> float:
        """Share of held-out uses whose nearest training use has their sense."""
        vectors_BD = model.layers(make_batch(sentences), "context")[-1][:, 6]
        nearest_N = cosines(vectors_BD[200:], vectors_BD[:200]).argmax(dim=1).numpy()
        return float((senses[:200][nearest_N] == senses[200:]).mean())

    untrained = accuracy()
    with torch.enable_grad():
        for _ in range(60):
            contexts_ND, _, _ = model(make_batch(sentences[:200]), first, torch.full((200,), 6), first[:0])
            vectors_ND = model.join(contexts_ND)
            loss = info_nce(vectors_ND, vectors_ND, targets_NN, own_NN).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert untrained < 0.75
    assert accuracy() > 0.95


# sizes


def test_building_on_the_meta_device_allocates_nothing_and_has_the_same_shapes(model):
    with torch.device("meta"):
        empty = build_model(model.config)
    assert all(parameter.is_meta for parameter in empty.parameters())
    shapes, expected = ({n: p.shape for n, p in m.named_parameters()} for m in (empty, model))
    assert shapes == expected


def test_building_on_the_meta_device_imports_nothing_heavy():
    code = (
        "import sys, torch; from ctxemb.models.contrastive import Contrastive, ContrastiveConfig as C\n"
        "with torch.device('meta'): Contrastive(C())\n"
        "assert 'sympy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.mark.parametrize(
    "changes",
    [{"hidden_size": 0}, {"dropout": 1.0}, {"attention_heads": -1}, {"attention_span": 0}, {"lstm_layers": 9}],
)
def test_impossible_sizes_are_refused(changes):
    with pytest.raises(ValidationError, match=next(iter(changes))):
        sizes(**changes)


# checkpoints


@pytest.mark.parametrize("weight_type", ["float32", "float16"])
@pytest.mark.parametrize("variant", VARIANTS[::3], ids=name_of)
def test_a_saved_encoder_reads_sentences_as_before(tokenizer, tmp_path, variant, weight_type):
    model = random_model(vocabulary_size=len(tokenizer), **variant)
    save_checkpoint(tmp_path / "m", model, tokenizer, TEXT, weight_type=weight_type)
    loaded = load_checkpoint(tmp_path / "m")
    assert (loaded.config.family, loaded.config.model, loaded.model.training) == ("contrastive", model.config, False)
    weights = dict(model.named_parameters())
    for name, value in loaded.model.named_parameters():
        expected = weights[name] if weight_type == "float32" else weights[name].half().float()
        assert torch.equal(value, expected), name
    encoder = Encoder.load(tmp_path / "m", device="cpu")
    tolerance = 1e-5 if weight_type == "float32" else 0.05
    for readout in READOUTS:
        encoding, _ = encoder.with_reading(encoder.reading_for(readout, "last")).encode(["two never four ten", "one"])
        expected_LTD = model.layers(make_batch([encoding.ids]), readout)[:, 0].numpy()
        np.testing.assert_allclose(encoding.layers, expected_LTD, atol=tolerance)
        assert np.array_equal(encoding.vectors, encoding.layers[-1])


def test_cosines_without_the_vectors_are_those_of_the_vectors():
    torch.manual_seed(0)
    model = Contrastive(ContrastiveConfig(vocabulary_size=20, embedding_size=6, hidden_size=4))
    torch.nn.init.normal_(model.norm.weight)
    torch.nn.init.normal_(model.norm.bias)
    anchors_ND, contexts_ND, words_MD = torch.randn(5, 8), torch.randn(5, 8), torch.randn(7, 8)
    expected = torch.cosine_similarity(anchors_ND[:, None], model.join(contexts_ND[:, None], words_MD), dim=-1)
    torch.testing.assert_close(model.joined_cosines(anchors_ND, contexts_ND, words_MD), expected)
