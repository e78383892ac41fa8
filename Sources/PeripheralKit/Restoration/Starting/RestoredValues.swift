internal import PeripheralCore

/// The preserved persistent values, divided by whether the present declaration accepts them.
struct RestoredValues: Sendable {
    /// The accepted values, by their present handles in the table.
    private(set) var taken: [AttributeHandle: [UInt8]] = [:]
    /// The values that the present declaration does not accept.
    ///
    /// These values stay preserved because the earlier declaration may be used again.
    private(set) var former: [AttributeHandle: [UInt8]] = [:]
    /// The problems to report to the program.
    private(set) var problems: [RestorationProblem] = []

    init(of declared: DeclaredState, from loaded: PreservedState?, _ match: DatabaseMatch) {
        guard let loaded else { return }
        for (handle, value) in declared.persistentValues.sorted(by: { $0.key < $1.key }) {
            guard let place = match.former[handle] else { continue }
            // If there is a value of an earlier declaration, the last value is only the initial one of
            // another declaration.
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
                "The preserved value of characteristic \(characteristic) of service \(service) does not have the type "
                + "and length that are declared now, so the characteristic has its initial value. The preserved value "
                + "stays in the store until the value changes. Declare the earlier type and length to use it again."
        )
    }
}
