"""pytorch-kinematics, torchani: an arm's poses, Jacobian and inverse; what surrounds each atom, with its slopes."""

import pytorch_kinematics as pk
import torch
from torchani.aev import AEVComputer

ARM = """<robot name="arm"><link name="a"/><link name="b"/><link name="c"/>
<joint name="one" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 1" rpy="0 0.1 0"/>
<axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
<joint name="two" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0 0.5 1" rpy="0.2 0 0"/>
<axis xyz="1 0 0"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint></robot>"""

torch.manual_seed(0)
arm = pk.build_serial_chain_from_urdf(ARM, "c")
angles = torch.randn(3, 2, requires_grad=True)
matrices = arm.forward_kinematics(angles).get_matrix()
matrices[:, :3, 3].sum().backward()
print(matrices)
print(angles.grad)
print(arm.jacobian(angles.detach()))
limits = torch.tensor(arm.get_joint_limits()).T
inverse = pk.PseudoInverseIK(arm, max_iterations=10, num_retries=4, joint_limits=limits, lr=0.2)
found = inverse.solve(pk.Transform3d(pos=torch.tensor([0.0, 0.4, 1.9]), rot=torch.zeros(3)))
print(found.solutions.shape, f"{found.err_pos.sum().item():.4f}")

kinds = torch.tensor([[0, 1, 0, 2, 3], [1, 0, 0, 2, -1]])
places = torch.randn(2, 5, 3, requires_grad=True)
surroundings = AEVComputer.like_1x()(kinds, places)
surroundings.pow(2).sum().backward()
print(surroundings.shape, f"{surroundings.sum().item():.4f}")
print(places.grad)
