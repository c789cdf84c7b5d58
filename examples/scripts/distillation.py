"""Knowledge distillation: a small student learns from the soft answers of a larger teacher."""

import time

import torch
import torch.nn as nn
import torch.optim as optim
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

device = "cpu" if not torch.cuda.is_available() else "cuda"
torch.manual_seed(42)
data = load_digits()
parts = train_test_split(data.data, data.target, test_size=397, random_state=0)
x_train, x_test = (torch.tensor(part, dtype=torch.float32) / 16 for part in parts[:2])
y_train, y_test = (torch.as_tensor(part, dtype=torch.int64) for part in parts[2:])
train_loader = DataLoader(TensorDataset(x_train, y_train), batch_size=70, shuffle=True)
test_loader = DataLoader(TensorDataset(x_test, y_test), batch_size=397, shuffle=False)


class DeepNN(nn.Module):
    def __init__(self, num_classes=10):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU())
        self.classifier = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, num_classes))

    def forward(self, x):
        return self.classifier(self.features(x))


class LightNN(nn.Module):
    def __init__(self, num_classes=10):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(64, 16), nn.ReLU())
        self.classifier = nn.Linear(16, num_classes)

    def forward(self, x):
        return self.classifier(self.features(x))


def train(model, train_loader, epochs, learning_rate):
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.Adam(model.parameters(), lr=learning_rate)
    model.train()
    for epoch in range(epochs):
        running_loss = 0.0
        for inputs, labels in train_loader:
            inputs, labels = inputs.to(device), labels.to(device)
            optimizer.zero_grad()
            loss = criterion(model(inputs), labels)
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
        print(f"Epoch {epoch + 1}/{epochs}, Loss: {running_loss / len(train_loader):.6f}")


def train_knowledge_distillation(teacher, student, train_loader, epochs, learning_rate, T, soft_weight, ce_weight):
    ce_loss = nn.CrossEntropyLoss()
    optimizer = optim.Adam(student.parameters(), lr=learning_rate)
    teacher.eval()
    student.train()
    for epoch in range(epochs):
        running_loss = 0.0
        for inputs, labels in train_loader:
            inputs, labels = inputs.to(device), labels.to(device)
            optimizer.zero_grad()
            with torch.no_grad():
                teacher_logits = teacher(inputs)
            student_logits = student(inputs)
            soft_targets = nn.functional.softmax(teacher_logits / T, dim=-1)
            soft_prob = nn.functional.log_softmax(student_logits / T, dim=-1)
            # Hinton, Vinyals and Dean 2015: the soft part is scaled by the square of the temperature
            soft_loss = torch.sum(soft_targets * (soft_targets.log() - soft_prob)) / soft_prob.size()[0] * (T**2)
            loss = soft_weight * soft_loss + ce_weight * ce_loss(student_logits, labels)
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
        print(f"Epoch {epoch + 1}/{epochs}, Loss: {running_loss / len(train_loader):.6f}")


def test(model, test_loader):
    model.to(device)
    model.eval()
    correct, total = 0, 0
    with torch.no_grad():
        for inputs, labels in test_loader:
            outputs = model(inputs.to(device))
            _, predicted = torch.max(outputs.data, 1)
            total += labels.size(0)
            correct += (predicted == labels.to(device)).sum().item()
    accuracy = 100 * correct / total
    print(f"Test Accuracy: {accuracy:.2f}%")
    return accuracy


start = time.perf_counter()
teacher = DeepNN().to(device)
print("teacher:", f"{sum(p.numel() for p in teacher.parameters()):,}", "parameters")
train(teacher, train_loader, epochs=8, learning_rate=0.002)
test(teacher, test_loader)

torch.manual_seed(42)
light = LightNN().to(device)
torch.manual_seed(42)
student = LightNN().to(device)
same = torch.norm(light.features[0].weight).item() == torch.norm(student.features[0].weight).item()
print("both students start alike:", same)
train(light, train_loader, epochs=8, learning_rate=0.002)
alone = test(light, test_loader)
train_knowledge_distillation(teacher, student, train_loader, 8, 0.002, T=2, soft_weight=0.25, ce_weight=0.75)
taught = test(student, test_loader)
print(f"alone {alone:.2f}%, taught {taught:.2f}%, {time.perf_counter() - start:.1f} s")
