import PeripheralKit
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RestorationStateTests {
    private func group(_ name: String, _ entries: KeyValuePairs<String, String>) -> RestorationState.Group {
        var group = RestorationState.Group(name)
        for (key, value) in entries { group[key] = value }
        return group
    }

    @Test func groupKeepsTheOrderOfItsKeys() {
        var values = group("Values", ["b": "1", "a": "2", "c": "3"])
        values["b"] = "4"
        #expect(values.entries.map(\.key) == ["b", "a", "c"])
        #expect(values["b"] == "4")
        values["b"] = nil
        values["missing"] = nil
        #expect(values.entries.map(\.key) == ["a", "c"])
        #expect(values["c"] == "3")
        values["c"] = "5"
        values["b"] = "6"
        #expect(values == group("Values", ["a": "2", "c": "5", "b": "6"]))
    }

    @Test func stateKeepsTheOrderOfItsGroups() {
        var restorationState = RestorationState()
        for name in ["B", "A", "C"] { restorationState.append(group(name, ["Key": name])) }
        restorationState.append(group("A", ["Key": "new"]))
        #expect(restorationState.groups.map(\.name) == ["B", "A", "C"])
        #expect(restorationState["A"]?["Key"] == "new")
        restorationState["B"] = nil
        restorationState["missing"] = nil
        #expect(restorationState.groups.map(\.name) == ["A", "C"])
        #expect(restorationState["C"]?["Key"] == "C")
        restorationState["C"]?["Key"] = "changed"
        #expect(restorationState.groups.last?["Key"] == "changed")
        restorationState["D"] = group("other name", [:])
        #expect(restorationState.groups.last?.name == "D")
    }

    @Test func orderIsPartOfEquality() {
        #expect(group("A", ["a": "1", "b": "2"]) != group("A", ["b": "2", "a": "1"]))
        #expect(group("A", [:]) != group("B", [:]))
        var first = RestorationState()
        var second = RestorationState()
        for name in ["A", "B"] { first.append(group(name, [:])) }
        for name in ["B", "A"] { second.append(group(name, [:])) }
        #expect(first != second)
        second["B"] = nil
        second.append(group("B", [:]))
        #expect(first == second)
        #expect(first.hashValue == second.hashValue)
    }
}
