"""Gradient accumulation: large batches in small pieces, warm-up, early stopping, a fresh start from a checkpoint."""

import argparse
import copy
import io

import torch
from sklearn.datasets import load_breast_cancer
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, Subset, TensorDataset, WeightedRandomSampler


def set_seed(seed):
    torch.manual_seed(seed)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(seed)


def get_linear_schedule_with_warmup(optimizer, num_warmup_steps, num_training_steps):
    def lr_lambda(current_step):
        if current_step < num_warmup_steps:
            return current_step / max(1, num_warmup_steps)
        return max(0.0, (num_training_steps - current_step) / max(1, num_training_steps - num_warmup_steps))

    return LambdaLR(optimizer, lr_lambda)


def evaluate(model, loader, criterion):
    model.eval()
    losses, hits = [], []
    with torch.no_grad():
        for x, y in loader:
            logits = model(x).squeeze(-1)
            losses.append(criterion(logits, y))
            hits.append((logits > 0) == (y > 0.5))
    model.train()
    return torch.stack(losses).mean().item(), torch.cat(hits).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gradient_accumulation_steps", type=int, default=4)
    parser.add_argument("--per_gpu_train_batch_size", type=int, default=8)
    parser.add_argument("--num_train_epochs", type=int, default=10)
    parser.add_argument("--learning_rate", type=float, default=1e-2)
    parser.add_argument("--max_grad_norm", type=float, default=1.0)
    parser.add_argument("--patience", type=int, default=3)
    args = parser.parse_args()
    set_seed(42)

    features, target = load_breast_cancer(return_X_y=True)
    features = torch.tensor(features).float()
    features.sub_(features.mean(0, keepdim=True)).div_(features.std(0, keepdim=True))
    dataset = TensorDataset(features, torch.tensor(target).float())
    train_set, valid_set = Subset(dataset, range(0, 456)), Subset(dataset, range(456, 569))
    counts = torch.bincount(torch.tensor(target[:456]))
    weights = (1.0 / counts)[torch.tensor(target[:456])]
    sampler = WeightedRandomSampler(weights, num_samples=len(train_set), replacement=True)
    train_loader = DataLoader(train_set, batch_size=args.per_gpu_train_batch_size, sampler=sampler)
    valid_loader = DataLoader(valid_set, batch_size=64)

    model = nn.Sequential(nn.Linear(30, 32), nn.LayerNorm(32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))
    no_decay = ["bias", "1.weight"]
    grouped = [
        {
            "params": [p for n, p in model.named_parameters() if not any(nd in n for nd in no_decay)],
            "weight_decay": 0.01,
        },
        {"params": [p for n, p in model.named_parameters() if any(nd in n for nd in no_decay)], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(grouped, lr=args.learning_rate, eps=1e-8)
    t_total = len(train_loader) // args.gradient_accumulation_steps * args.num_train_epochs
    scheduler = get_linear_schedule_with_warmup(optimizer, 10, t_total)
    criterion = nn.BCEWithLogitsLoss()

    global_step, tr_loss, logging_loss = 0, 0.0, 0.0
    best, waited = (float("inf"), None), 0
    model.zero_grad()
    for epoch in range(args.num_train_epochs):
        for step, (x, y) in enumerate(train_loader):
            loss = criterion(model(x).squeeze(-1), y)
            if args.gradient_accumulation_steps > 1:
                loss = loss / args.gradient_accumulation_steps
            loss.backward()
            tr_loss += loss.item()
            if (step + 1) % args.gradient_accumulation_steps == 0:
                torch.nn.utils.clip_grad_norm_(model.parameters(), args.max_grad_norm)
                optimizer.step()
                scheduler.step()
                model.zero_grad()
                global_step += 1
        valid_loss, accuracy = evaluate(model, valid_loader, criterion)
        print(
            f"epoch {epoch} step {global_step} train {(tr_loss - logging_loss) / (len(train_loader) / 4):.6f} "
            f"valid {valid_loss:.6f} accuracy {accuracy:.4f} lr {scheduler.get_last_lr()[0]:.6f}"
        )
        logging_loss = tr_loss
        if valid_loss < best[0]:
            best, waited = (valid_loss, copy.deepcopy(model.state_dict())), 0
        else:
            waited += 1
            if waited >= args.patience:
                print(f"stopped early after epoch {epoch}")
                break

    file = io.BytesIO()
    torch.save({"model_state_dict": best[1], "optimizer_state_dict": optimizer.state_dict(), "loss": best[0]}, file)
    file.seek(0)
    checkpoint = torch.load(file)
    model.load_state_dict(checkpoint["model_state_dict"])
    optimizer.load_state_dict(checkpoint["optimizer_state_dict"])
    valid_loss, accuracy = evaluate(model, valid_loader, criterion)
    print(f"best again: {valid_loss:.6f} (saved {checkpoint['loss']:.6f}), accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
