"""Events of the Python package dp-accounting as JSON, and back.

    python3 -m venv venv && venv/bin/pip install dp-accounting==0.6.0
    venv/bin/python docs/results/dp_accounting_events.py fixture > dp/account/testdata/dp_accounting.json
    discreet account convert --to dp-accounting event.json | venv/bin/python docs/results/dp_accounting_events.py show
    discreet account convert --to dp-accounting event.json | venv/bin/python docs/results/dp_accounting_events.py epsilon pld replace_one 1e-6

dump(event) is an object of the event's class name and of what to_named_tuple has; load(object) is the event again. An
infinite number is "inf". fixture prints some events of every class with what dp-accounting says that they cost; show reads one
event and prints it as Python has it; epsilon prints what dp-accounting's pld or rdp accountant says that it costs, and the processor seconds.
"""
import json
import math
import sys
import time

import dp_accounting
from dp_accounting import dp_event, pld, rdp

MODULE = "dp_accounting.dp_event"


def dump(event):
    return _plain(event.to_named_tuple())


def _plain(value):
    if hasattr(value, "_asdict"):
        return {k: _plain(v) for k, v in value._asdict().items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return "inf" if isinstance(value, float) and math.isinf(value) else value


def load(value):
    if isinstance(value, dict):
        module = value.get("module_name", MODULE)
        if module != MODULE:
            raise ValueError(f"module {module}: want {MODULE}")
        kind = getattr(dp_event, value["class_name"])
        return kind(**{k: load(v) for k, v in value.items() if k not in ("class_name", "module_name")})
    if isinstance(value, list):
        return [load(v) for v in value]
    return math.inf if value == "inf" else value


ADD = dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
REPLACE = dp_accounting.NeighboringRelation.REPLACE_ONE
SPECIAL = dp_accounting.NeighboringRelation.REPLACE_SPECIAL


def cases():
    d = dp_event
    step = d.PoissonSampledDpEvent(0.01, d.GaussianDpEvent(1.0))
    yield d.GaussianDpEvent(4.0), ADD, pld
    yield d.GaussianDpEvent(4.0), REPLACE, pld
    yield d.LaplaceDpEvent(4.0), ADD, pld
    yield d.DiscreteLaplaceDpEvent(0.25, 2), ADD, pld
    yield d.RandomizedResponseDpEvent(0.8, 4), REPLACE, pld
    yield d.ZCDpEvent(0.1), ADD, rdp
    yield d.SelfComposedDpEvent(d.SingleEpochTreeAggregationDpEvent(10.0, 1000), 3), SPECIAL, rdp
    yield d.SingleEpochTreeAggregationDpEvent(10.0, [1000, 30, 1000]), SPECIAL, rdp
    yield d.RepeatAndSelectDpEvent(d.GaussianDpEvent(10.0), 8.0, 1), ADD, rdp
    yield d.RepeatAndSelectDpEvent(d.GaussianDpEvent(10.0), 8.0, 0), ADD, rdp
    yield d.RepeatAndSelectDpEvent(d.GaussianDpEvent(10.0), 8.0, math.inf), ADD, rdp
    yield d.SelfComposedDpEvent(step, 1000), ADD, pld
    yield d.SelfComposedDpEvent(d.SampledWithoutReplacementDpEvent(10000, 100, d.GaussianDpEvent(4.0)), 100), REPLACE, rdp
    cut = d.TruncatedSubsampledGaussianDpEvent(10000, 0.01, 150, 1.0)
    yield d.SelfComposedDpEvent(cut, 1000), ADD, pld
    yield d.SelfComposedDpEvent(cut, 1000), REPLACE, pld
    yield d.ComposedDpEvent([d.NoOpDpEvent(), d.GaussianDpEvent(8.0), d.SelfComposedDpEvent(d.LaplaceDpEvent(20.0), 5), step]), ADD, pld


def refused():
    d = dp_event
    yield d.NonPrivateDpEvent()
    yield d.UnsupportedDpEvent()
    yield d.SampledWithReplacementDpEvent(100, 10, d.GaussianDpEvent(1.0))
    yield d.MixtureOfGaussiansDpEvent(1.0, [0.0, 1.0], [0.5, 0.5])
    yield d.ZCDpEvent(0.1, 0.1)
    yield d.RepeatAndSelectDpEvent(d.GaussianDpEvent(1.0), 8.0, 2)


def fixture():
    out = {"made_by": "docs/results/dp_accounting_events.py fixture, dp-accounting 0.6.0", "delta": 1e-6, "events": [], "refused": []}
    for event, relation, module in cases():
        assert load(json.loads(json.dumps(dump(event)))) == event
        accountant = (pld.PLDAccountant if module is pld else rdp.RdpAccountant)(neighboring_relation=relation)
        accountant.compose(event)
        out["events"].append({
            "event": dump(event), "relation": relation.name, "accountant": "pld" if module is pld else "rdp",
            "epsilon": float(accountant.get_epsilon(1e-6))})
    out["refused"] = [dump(event) for event in refused()]
    print(json.dumps(out, indent=1))


def epsilon(module, adjacency, delta):
    event = load(json.load(sys.stdin))
    start = time.process_time()
    relation = {"add_remove_one": ADD, "replace_one": REPLACE}[adjacency]
    accountant = {"pld": pld.PLDAccountant, "rdp": rdp.RdpAccountant}[module](neighboring_relation=relation)
    accountant.compose(event)
    answer = float(accountant.get_epsilon(float(delta)))
    print(f"epsilon {answer:.5g} at delta {delta} ({adjacency}, {module}), {time.process_time() - start:.2g} s")


if __name__ == "__main__":
    if sys.argv[1:] == ["fixture"]:
        fixture()
    elif sys.argv[1:] == ["show"]:
        print(load(json.load(sys.stdin)))
    elif len(sys.argv) == 5 and sys.argv[1] == "epsilon":
        epsilon(*sys.argv[2:])
    else:
        sys.exit(__doc__)
