internal import PeripheralCore

/// Which of the persistent values that were preserved are values of what is declared now.
struct RestoredValues: Sendable {
    /// Those that are, by their handles in the table now.
    private(set) var taken: [AttributeHandle: [UInt8]] = [:]
    /// Those that are not, which would be lost to the declaration of before if they were forgotten.
    private(set) var former: [AttributeHandle: [UInt8]] = [:]
    /// What the program is told of these.
    private(set) var problems: [RestorationProblem] = []

    init(of declared: DeclaredState, from loaded: PreservedState?, _ match: DatabaseMatch) {
        guard let loaded else { return }
        for (handle, value) in declared.persistentValues.sorted(by: { $0.key < $1.key }) {
            guard let place = match.former[handle] else { continue }
            // With a value of before beside it, the last one is but what another declaration began with.
            let candidates = [loaded.formerValues[place], loaded.values[place]].compactMap(\.self)
            let accepted = candidates.filter(value.accepts)
            taken[handle] = value.isAsPreserved ? accepted.last : accepted.first
            guard let left = candidates.first, left != taken[handle] else { continue }
            former[handle] = left
            guard !value.accepts(left) else { continue }
            problems.append(RestorationProblem(.value, declared.incompatibleValue(of: handle)))
        }
    }
}

extension DeclaredState {
    fileprivate func incompatibleValue(of handle: AttributeHandle) -> RestorationError {
        let kind = table[handle]?.kind
        let characteristic = kind.flatMap(table.characteristic)?.uuid ?? BluetoothUUID(0)
        let service = kind.map { table.services[$0.service].uuid } ?? BluetoothUUID(0)
        return RestorationError(
            code: .incompatible,
            message:
                "What is preserved of characteristic \(characteristic) of service \(service) is no value of the "
                + "type and length that are declared now, and is not taken: the value is the initial one. "
                + "It stays preserved until the value is changed, and is taken by a declaration that it suits."
        )
    }
}
