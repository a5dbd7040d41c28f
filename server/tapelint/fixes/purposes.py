"""The table of purposes: what a cure may name, what is said of it on the pages of rules, and the function that does it.

The function takes a ``SourceEditor`` and the targets of the cure, nodes of the analysed tree, in the order that
its docstring gives; it returns edits or raises ``EditRefused``. Where a call and the statement that is nothing but
this call mean the same, either will do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..frozen import frozen
from ..source.edit import Edit
from . import custom_functions, detachment, grad_modes, in_place, leaves, order, training_steps
from .text.expressions import drop_argument, put_argument, put_call_behind, wrap
from .text.rows import put_call


@frozen
class Purpose:
    """One kind of edit. ``summary`` stands on the pages of the rules that offer it. One that ``cuts`` takes something
    out of a graph.
    """

    edits: Callable[..., list[Edit]]
    summary: str
    cuts: bool = False


PURPOSES: dict[str, Purpose] = {
    # What is cut off its graph, or no longer
    "detach": Purpose(
        partial(put_call_behind, call=".detach()", unless=("detach", "detach_")),
        "Cut a value off its graph where it is used: ``total += loss`` becomes ``total += loss.detach()``.",
        cuts=True,
    ),
    "detach_instead": Purpose(
        partial(leaves.replace_flag, by="{0} = {0}.detach()"),
        "Cut a tensor off its graph instead of switching its flag off: ``y.requires_grad = False`` becomes "
        "``y = y.detach()``.",
        cuts=True,
    ),
    "detach_item": Purpose(
        detachment.keep_detached_item,
        "Keep what ``detach()`` returns in a container: ``self.kept[key].detach_()`` becomes ``self.kept[key] "
        "= self.kept[key].detach()``.",
        cuts=True,
    ),
    "detach_state": Purpose(
        detachment.detach_states,
        "Forget the past of a carried state before it is used again: ``h = h.detach()`` as a statement of its own.",
        cuts=True,
    ),
    "detach_state_after": Purpose(
        partial(detachment.detach_states, after=True),
        "Forget the past of a state as soon as it is kept: ``self.h = self.h.detach()`` right after it was assigned.",
        cuts=True,
    ),
    "detach_states": Purpose(
        detachment.detach_states,
        "Forget the past of kept tensors before a statement: ``net.h = net.h.detach()`` as a statement of its "
        "own, for each.",
        cuts=True,
    ),
    "detach_states_after": Purpose(
        partial(detachment.detach_states, after=True),
        "Forget the past of states as soon as they are kept: ``h = h.detach()`` for each, right after they "
        "were assigned.",
        cuts=True,
    ),
    "detach_tuple_state": Purpose(
        partial(detachment.detach_states, value=detachment.OF_TUPLE),
        "Forget the past of a state that is a tuple, as an LSTM's: ``state = tuple(s.detach() for s in state)``.",
        cuts=True,
    ),
    "detach_tuple_state_after": Purpose(
        partial(detachment.detach_states, value=detachment.OF_TUPLE, after=True),
        "Forget the past of a tuple of states as soon as it is kept: ``state = tuple(s.detach() for s in state)``.",
        cuts=True,
    ),
    "freeze_module": Purpose(
        partial(leaves.replace_flag, by="{0}.requires_grad_(False)"),
        "Freeze the parameters of a module: ``net.requires_grad = False`` becomes ``net.requires_grad_(False)``.",
        cuts=True,
    ),
    "keep_detached": Purpose(
        detachment.keep_detached,
        "Keep what ``detach()`` returns: ``target.detach()`` as a statement becomes ``target = target.detach()``.",
        cuts=True,
    ),
    "straight_through": Purpose(
        detachment.keep_gradient,
        "Keep the gradient of a value whose data is changed: ``g.data.round_()`` becomes ``g = g + (g.round() "
        "- g).detach()``.",
        cuts=True,
    ),
    "unwrap": Purpose(
        detachment.unwrap,
        "Use a tensor itself and not a new one made from it: ``torch.tensor(loss.item())`` becomes ``loss``, "
        "``float(loss)`` too, and ``nn.ParameterList([t])`` becomes ``[t]``.",
        cuts=True,
    ),
    "remove_call": Purpose(
        detachment.remove_call,
        "Use a value itself and not what was made of it: ``x.detach()``, ``x.item()`` and ``x.data`` become ``x``.",
    ),
    # In which order
    "move_after": Purpose(
        partial(order.move, after=True),
        "Do something later: move a statement to just after another of the same suite, as ``opt.step()`` "
        "after every backward.",
    ),
    "move_before": Purpose(
        partial(order.move, after=False),
        "Do something earlier: move a statement to just before another of the same suite.",
    ),
    "move_block_after": Purpose(
        order.move_block,
        "Do something later with all that is around it: ``with torch.no_grad(): ...`` moves to just below "
        "``loss.backward()``.",
    ),
    "relocate_after": Purpose(
        partial(order.relocate, after=True),
        "Do something elsewhere: a call goes just after a statement of another suite, as ``opt.zero_grad()`` "
        "behind the step.",
    ),
    "relocate_before": Purpose(
        partial(order.relocate, after=False),
        "Do something elsewhere: a call goes just before a statement of another suite, as ``opt.zero_grad()`` "
        "out of a loop.",
    ),
    "compute_after": Purpose(
        order.compute_after,
        "Compute a loss later: the statements that make it move to just after another of their suite, as "
        "after ``opt.step()``.",
    ),
    "compute_again": Purpose(
        order.compute_again,
        "Compute a value anew where it is out of date: ``score = D(fake)`` once more after ``opt.step()``, "
        "before it is used.",
    ),
    "move_into_function": Purpose(
        order.move_into_function,
        "Compute something in every call: move a statement from above a function to the beginning of its body.",
    ),
    "move_into_loop": Purpose(
        order.move_into_loop,
        "Compute something in every iteration: move a statement from before a loop to the beginning of its body.",
    ),
    "merge_backwards": Purpose(
        order.merge_backwards,
        "Walk the graph once: ``a.backward(); b.backward()`` becomes ``(a + b).backward()``.",
    ),
    "clear_after": Purpose(
        order.clear_after,
        "Empty containers when they were used: ``losses.clear()`` right after ``sum(losses).backward()``.",
    ),
    # Whether gradients are recorded
    "no_grad": Purpose(
        grad_modes.put_under,
        "Do something outside autograd: wrap statements in ``with torch.no_grad():``.",
    ),
    "no_grad_writes": Purpose(
        grad_modes.put_writes_under,
        "Write outside autograd: like ``no_grad``, for a statement and those right below it that write in "
        "place as well.",
    ),
    "no_grad_below": Purpose(
        grad_modes.put_rest_under,
        "Switch gradients off for the rest of a function only: ``torch.set_grad_enabled(False)`` becomes "
        "``with torch.no_grad():`` over the statements below it.",
    ),
    "enable_grad_around": Purpose(
        grad_modes.put_root_under,
        "Record a graph where gradients are off: what computes the root goes into ``with torch.enable_grad():``.",
    ),
    "enable_grad": Purpose(
        grad_modes.enable,
        "Record the graph after all: ``with torch.no_grad():`` becomes ``with torch.enable_grad():``; a "
        "decorator ``@torch.no_grad()`` goes.",
    ),
    "no_grad_instead": Purpose(
        grad_modes.leave_inference,
        "Leave gradients off, but make ordinary tensors: ``torch.inference_mode()`` becomes ``torch.no_grad()``.",
    ),
    "enter_all": Purpose(
        grad_modes.enter_all,
        "Write commas between context managers that are joined by ``and`` or ``or``, so that all are entered.",
    ),
    "call_class": Purpose(
        partial(put_call_behind, call="()", unless=()),
        "Call a class, so that there is an object of it: ``with torch.no_grad:`` becomes ``with torch.no_grad():``.",
    ),
    # Calls of a training step
    "retain_graph": Purpose(
        training_steps.retain_graph,
        "Keep the graph for another backward: ``loss.backward()`` becomes ``loss.backward(retain_graph=True)``.",
    ),
    "drop_retain_graph": Purpose(
        training_steps.drop_retain_graph,
        "Let backward free the graph: take ``retain_graph`` out of a call.",
    ),
    "create_graph": Purpose(
        training_steps.create_graph,
        "Give a gradient a graph of its own: ``torch.autograd.grad(y, x)`` becomes ``torch.autograd.grad(y, "
        "x, create_graph=True)``.",
    ),
    "non_reentrant": Purpose(
        partial(put_argument, name="use_reentrant", value="False"),
        "Checkpoint without reentrant autograd: ``checkpoint(f, x)`` becomes ``checkpoint(f, x, "
        "use_reentrant=False)``.",
    ),
    "sum": Purpose(
        partial(put_call_behind, call=".sum()", unless=("sum",)),
        "Reduce a tensor to one number by its sum: ``grad(u, x)`` becomes ``grad(u.sum(), x)``.",
    ),
    "mean": Purpose(
        partial(put_call_behind, call=".mean()", unless=("mean",)),
        "Reduce a tensor to one number by its mean: ``loss.backward()`` becomes ``loss.mean().backward()``.",
    ),
    "stack": Purpose(
        training_steps.stack,
        "Join losses with their graphs: ``torch.tensor([a, b])`` becomes ``torch.stack([a, b])``.",
    ),
    "leave_out": Purpose(
        training_steps.leave_out,
        "Leave out a backward that has nothing to train: ``slope.sum().backward()`` where the slope is constant.",
    ),
    "backward_of_term": Purpose(
        training_steps.backward_of_term,
        "Go backward from what was added, not from the total: ``total += loss.detach()``, ``loss.backward()``.",
    ),
    "zero_grad_before": Purpose(
        training_steps.zero_grad_before,
        "Clear the gradients before something: ``opt.zero_grad()`` on a row of its own.",
    ),
    "zero_grad_after": Purpose(
        partial(put_call, call="{0}.zero_grad()", after=True),
        "Clear the gradients after something: ``opt.zero_grad()`` right after the step that used them.",
    ),
    "train_before": Purpose(
        partial(put_call, call="{0}.train()"),
        "Set a network to training mode before something: ``net.train()`` on a row of its own.",
    ),
    "unscale_before": Purpose(
        partial(put_call, call="{0}.unscale_({1})"),
        "Divide scaled gradients by their scale before something: ``scaler.unscale_(opt)`` on a row of its own.",
    ),
    # Leaves and parameters
    "requires_grad": Purpose(
        leaves.require_grad,
        "Make a new tensor one that autograd tracks: ``torch.zeros(3)`` becomes ``torch.zeros(3, "
        "requires_grad=True)``.",
    ),
    "track_source": Purpose(
        leaves.track_source,
        "Let the first tensor that a root is computed from require grad: ``x = torch.rand(3)`` above "
        "``x.sum().backward()`` becomes ``x = torch.rand(3, requires_grad=True)``.",
    ),
    "plain_tensor": Purpose(
        partial(drop_argument, name="requires_grad"),
        "Make a tensor that autograd does not track: ``torch.zeros(1, requires_grad=True)`` becomes "
        "``torch.zeros(1)``.",
    ),
    "make_leaf": Purpose(
        partial(put_call_behind, call=".detach().requires_grad_()", unless=("requires_grad_",)),
        "Make a computed tensor a leaf of its own: ``x = w * 2`` becomes ``x = (w * 2).detach().requires_grad_()``.",
    ),
    "float_dtype": Purpose(
        leaves.make_floats,
        "Make a tensor of floating point numbers: ``torch.arange(3)`` becomes ``torch.arange(3, "
        "dtype=torch.float32)``.",
    ),
    "to_float": Purpose(
        partial(put_call_behind, call=".float()", unless=("float", "double")),
        "Convert a tensor to floating point where it is made: ``x = a + b`` becomes ``x = (a + b).float()``.",
    ),
    "retain_grad": Purpose(
        partial(put_call, call="{0}.retain_grad()", after=True),
        "Ask for the gradient of a non-leaf as soon as it is kept: ``y.retain_grad()`` after ``y = x * 2``.",
    ),
    "retain_grad_if_tracked": Purpose(
        leaves.retain_grad_if_tracked,
        "The same where the statement also runs without gradients: ``y.retain_grad()`` only if y requires grad.",
    ),
    "retain_grad_instead": Purpose(
        partial(leaves.replace_flag, by="{0}.retain_grad()"),
        "Ask a non-leaf for its gradient: ``y.requires_grad = True`` becomes ``y.retain_grad()``.",
    ),
    "parameter": Purpose(
        partial(wrap, wrapper="nn.Parameter"),
        "Register a tensor: ``self.w = torch.zeros(3, requires_grad=True)`` becomes ``self.w = nn.Parameter(...)``.",
    ),
    "parameter_list": Purpose(
        partial(wrap, wrapper="nn.ParameterList"),
        "Register the parameters of a list: ``self.ws = [...]`` becomes ``self.ws = nn.ParameterList([...])``.",
    ),
    "parameter_dict": Purpose(
        partial(wrap, wrapper="nn.ParameterDict"),
        "Register the parameters of a dict: ``self.ws = {...}`` becomes ``self.ws = nn.ParameterDict({...})``.",
    ),
    "module_list": Purpose(
        partial(wrap, wrapper="nn.ModuleList"),
        "Register the modules of a list: ``self.layers = [...]`` becomes ``self.layers = nn.ModuleList([...])``.",
    ),
    "module_dict": Purpose(
        partial(wrap, wrapper="nn.ModuleDict"),
        "Register the modules of a dict: ``self.heads = {...}`` becomes ``self.heads = nn.ModuleDict({...})``.",
    ),
    "parameter_outside": Purpose(
        leaves.put_parameter_outside,
        "Make the Parameter last: ``nn.Parameter(t).to(device)`` becomes ``nn.Parameter(t.to(device))``.",
    ),
    # In place or not
    "out_of_place": Purpose(
        in_place.out_of_place,
        "Compute a new tensor where one was overwritten.",
    ),
    "out_of_place_each": Purpose(
        in_place.out_of_place_each,
        "Compute a new tensor for each of the augmented assignments to the same name in a suite.",
    ),
    "clone": Purpose(
        in_place.clone,
        "Give a value memory of its own: ``kept = x`` becomes ``kept = x.clone()``.",
    ),
    "clone_before": Purpose(
        in_place.clone_before,
        "Write to a copy: ``y[0] = 1`` becomes ``y = y.clone()`` and, below, ``y[0] = 1``.",
    ),
    "inplace_update": Purpose(
        in_place.update_in_place,
        "Update a parameter in place instead of computing a new one: ``w = w - lr * w.grad`` becomes ``with "
        "torch.no_grad(): w -= lr * w.grad``.",
    ),
    # Functions with a backward of their own
    "save_for_backward": Purpose(
        custom_functions.save_for_backward,
        "Let autograd keep a tensor: ``ctx.x = x`` becomes ``ctx.save_for_backward(x)``, and ``ctx.x`` in "
        "backward ``ctx.saved_tensors[0]``.",
    ),
    "save_unpacked": Purpose(
        custom_functions.save_unpacked,
        "Save what backward unpacks: ``ctx.save_for_backward(x)`` becomes ``ctx.save_for_backward(x, w)`` "
        "where backward has ``x, w = ctx.saved_tensors``.",
    ),
    "unpack_saved": Purpose(
        custom_functions.unpack_saved,
        "Unpack all that forward has saved: ``x, w = ctx.saved_tensors`` becomes ``x, w, out = ctx.saved_tensors``.",
    ),
    "save_each": Purpose(
        custom_functions.save_each,
        "Save tensors one by one: ``ctx.save_for_backward([x, w])`` becomes ``ctx.save_for_backward(x, w)``.",
    ),
    "keep_on_context": Purpose(
        custom_functions.keep_on_context,
        "Keep what is no tensor as an attribute: ``ctx.save_for_backward(x, alpha)`` becomes ``ctx.alpha = "
        "alpha`` and ``ctx.save_for_backward(x)``, and ``x, alpha = ctx.saved_tensors`` becomes ``(x,) = "
        "ctx.saved_tensors`` and ``alpha = ctx.alpha``.",
    ),
    "set_on_context": Purpose(
        custom_functions.set_on_context,
        "Keep an argument for backward: ``ctx.alpha = alpha`` at the beginning of ``forward``, which takes an "
        "``alpha``.",
    ),
    "mark_dirty": Purpose(
        custom_functions.mark_dirty,
        "Tell autograd of an in-place write in a Function's forward: ``ctx.mark_dirty(x)`` before it.",
    ),
    "pad_gradients": Purpose(
        custom_functions.pad_gradients,
        "Return None for the arguments a Function's backward has no gradient for: ``return g`` becomes "
        "``return g, None``.",
    ),
    "none_gradient": Purpose(
        custom_functions.return_none,
        "Return None where a Function's backward has a gradient for something that is no tensor.",
    ),
}
