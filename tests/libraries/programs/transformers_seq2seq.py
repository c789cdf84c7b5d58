"""transformers: T5 trained from text to text and decoded, ViT and Whisper trained a step; each of a small config."""

import torch
from transformers import (
    T5Config,
    T5ForConditionalGeneration,
    ViTConfig,
    ViTForImageClassification,
    WhisperConfig,
    WhisperForConditionalGeneration,
    logging,
    set_seed,
)

logging.set_verbosity_error()
set_seed(0)
t5 = T5ForConditionalGeneration(
    T5Config(
        vocab_size=40, d_model=32, d_kv=8, d_ff=64, num_layers=1, num_heads=4, decoder_start_token_id=0,
        pad_token_id=0, eos_token_id=1,
    )
)  # fmt: skip
source, target = torch.randint(2, 40, (4, 9)), torch.randint(2, 40, (4, 7))
mask = torch.ones_like(source)
mask[2, 5:] = 0
optimizer = torch.optim.AdamW(t5.parameters(), lr=1e-2)
for step in range(5):
    loss = t5(input_ids=source, attention_mask=mask, labels=target).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"t5 step {step} loss {loss.item():.4f}")
t5.eval()
print(t5.generate(input_ids=source, attention_mask=mask, max_new_tokens=6).tolist())

vit = ViTForImageClassification(
    ViTConfig(
        image_size=16, patch_size=4, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
        num_labels=3,
    )
)  # fmt: skip
optimizer = torch.optim.SGD(vit.parameters(), lr=0.1, momentum=0.9)
images, labels = torch.randn(6, 3, 16, 16), torch.randint(0, 3, (6,))
for step in range(4):
    result = vit(pixel_values=images, labels=labels, output_hidden_states=True)
    result.loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"vit step {step} loss {result.loss.item():.4f} {len(result.hidden_states)}")

whisper = WhisperForConditionalGeneration(
    WhisperConfig(
        vocab_size=40, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, num_mel_bins=8, max_source_positions=20,
        max_target_positions=20, decoder_start_token_id=1, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        suppress_tokens=None, begin_suppress_tokens=None,
    )
)  # fmt: skip
sound = torch.randn(2, 8, 40)
loss = whisper(input_features=sound, labels=torch.randint(3, 40, (2, 5))).loss
loss.backward()
print(f"whisper loss {loss.item():.4f} norm {torch.nn.utils.clip_grad_norm_(whisper.parameters(), 1.0).item():.4f}")
whisper.eval()
print(whisper.generate(input_features=sound, max_new_tokens=4, return_timestamps=False).tolist())
