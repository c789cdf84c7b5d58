"""sentence-transformers, transformers, tokenizers: a BERT made to embed sentences, trained on pairs, searched."""

import os
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
from sentence_transformers import InputExample, SentenceTransformer, losses, util
from sentence_transformers.models import Dense, Normalize, Pooling, Transformer
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast, logging, set_seed

logging.set_verbosity_error()
animals, moods = ["cat", "dog", "horse", "bird"], ["sleeps", "runs", "eats"]
pairs = [(f"the {animal} {mood}", f"a {animal} that {mood} now") for animal in animals for mood in moods]
raw = Tokenizer(models.WordLevel(unk_token="[UNK]"))
raw.pre_tokenizer = pre_tokenizers.Whitespace()
special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
raw.train_from_iterator([text for pair in pairs for text in pair], trainers.WordLevelTrainer(special_tokens=special))
raw.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
set_seed(0)
with tempfile.TemporaryDirectory() as folder:
    PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]", model_max_length=16,
    ).save_pretrained(folder)  # fmt: skip
    config = BertConfig(
        vocab_size=raw.get_vocab_size(), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=32,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    words = Transformer(folder, max_seq_length=16)
pooling = Pooling(words.get_word_embedding_dimension(), pooling_mode="mean")
dense = Dense(32, 16, activation_function=torch.nn.Tanh())
model = SentenceTransformer(modules=[words, pooling, dense, Normalize()], device="cpu")
print(model.get_sentence_embedding_dimension(), [type(part).__name__ for part in model])
loss_of = losses.MultipleNegativesRankingLoss(model)
loader = torch.utils.data.DataLoader(
    [InputExample(texts=list(pair)) for pair in pairs], batch_size=6, shuffle=True,
    collate_fn=model.smart_batching_collate,
)  # fmt: skip
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
model.train()
for epoch in range(3):
    for features, labels in loader:
        loss = loss_of(features, labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"epoch {epoch} loss {loss.item():.4f}")
model.eval()
queries, corpus = [pair[0] for pair in pairs[:3]], [pair[1] for pair in pairs]
embedded = model.encode(corpus, batch_size=5, convert_to_tensor=True)
asked = model.encode(queries, convert_to_tensor=True)
print(embedded.shape, util.cos_sim(asked, embedded[:4]))
for hits in util.semantic_search(asked, embedded, top_k=2):
    print([(hit["corpus_id"], round(hit["score"], 3)) for hit in hits])
print(model.similarity(asked, asked))
with tempfile.TemporaryDirectory() as folder:
    model.save(folder)
    again = SentenceTransformer(folder, device="cpu")
print("loaded", torch.allclose(again.encode(queries, convert_to_tensor=True), asked, atol=1e-6))
print(model.encode(queries[0], normalize_embeddings=True)[:3].round(3).tolist())
