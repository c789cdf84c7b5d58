"""transformers, accelerate, tokenizers: BERT on sentences of a tokenizer built here, trained by Trainer."""

import tempfile

import numpy as np
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    BertForSequenceClassification,
    DataCollatorWithPadding,
    PreTrainedTokenizerFast,
    PrinterCallback,
    Trainer,
    TrainingArguments,
    logging,
    set_seed,
)

logging.set_verbosity_error()
logging.disable_progress_bar()
set_seed(0)
nouns, good, bad = ["film", "play", "song", "book"], ["lovely", "fine", "great"], ["awful", "dull", "poor"]
texts, labels = [], []
for noun in nouns:
    for label, words in enumerate((bad, good)):
        for word in words:
            texts.append(f"the {noun} was {word}" + (" and rather long" if len(texts) % 3 == 0 else ""))
            labels.append(label)

special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
pieces = [*special, *sorted({word for text in texts for word in text.split()} - {"lovely", "rather"})]
pieces += ["lo", "ra", "##ve", "##ly", "##ther"]
raw = Tokenizer(models.WordPiece({piece: place for place, piece in enumerate(pieces)}, unk_token="[UNK]"))
raw.normalizer = normalizers.BertNormalizer(lowercase=True)
raw.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
raw.post_processor = processors.TemplateProcessing(
    single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
)
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=raw,
    pad_token="[PAD]",
    unk_token="[UNK]",
    cls_token="[CLS]",
    sep_token="[SEP]",
    mask_token="[MASK]",
)
print(len(tokenizer), tokenizer.tokenize("The film was lovely"))
print(tokenizer(["the film", "a great long song"], padding=True, return_tensors="pt"))


class Sentences(torch.utils.data.Dataset):
    def __init__(self, texts: list[str], labels: list[int]) -> None:
        self.rows = [dict(tokenizer(text), label=label) for text, label in zip(texts, labels, strict=True)]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> dict:
        return self.rows[index]


def accuracy(prediction) -> dict[str, float]:
    return {"accuracy": float(np.mean(prediction.predictions.argmax(-1) == prediction.label_ids))}


config = BertConfig(
    vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
    max_position_embeddings=32, num_labels=2,
)  # fmt: skip
model = BertForSequenceClassification(config)
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        folder, num_train_epochs=3, per_device_train_batch_size=4, gradient_accumulation_steps=2, learning_rate=3e-3,
        warmup_steps=2, weight_decay=0.01, logging_steps=2, eval_strategy="epoch", save_strategy="epoch",
        load_best_model_at_end=True, report_to=[], disable_tqdm=True, seed=0, use_cpu=True,
    )  # fmt: skip
    trainer = Trainer(
        model, arguments, train_dataset=Sentences(texts[:18], labels[:18]),
        eval_dataset=Sentences(texts[18:], labels[18:]),
        data_collator=DataCollatorWithPadding(tokenizer), processing_class=tokenizer, compute_metrics=accuracy,
    )  # fmt: skip
    trainer.remove_callback(PrinterCallback)
    result = trainer.train()
    print("steps", result.global_step, f"loss {result.training_loss:.4f}")
    for row in trainer.state.log_history:
        print({k: round(v, 4) for k, v in row.items() if not k.endswith(("runtime", "second"))})
    print({k: round(v, 4) for k, v in trainer.evaluate().items() if k in ("eval_loss", "eval_accuracy")})
    trainer.save_model(folder)
    again = AutoModelForSequenceClassification.from_pretrained(folder)
    words = AutoTokenizer.from_pretrained(folder)
    again.eval()
    with torch.no_grad():
        print(again(**words(["the book was great", "the film was poor"], return_tensors="pt")).logits.softmax(-1))
