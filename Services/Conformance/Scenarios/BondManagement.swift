internal import PeripheralBondManagement
internal import PeripheralConformance
internal import PeripheralKit
internal import PeripheralTesting

extension ServiceConformance {
    static let bondManagement = [bondIsDeleted, allBondsAreDeleted]

    private static let bondIsDeleted = Scenario(
        "BondManagement: the bond of a central that has sent the code is deleted when it disconnects"
    ) {
        let code = Array("4711".utf8)
        let bonds = BondManagementService { sent, _ in sent == code }
        return ScenarioRun(Peripheral("Lock", pairing: .justWorks) { bonds }) { central, session in
            try await central.pair(.justWorks)
            try expect("feature", try await central.read(bonds.feature).rawValue, is: 0x30)
            try await expectRefusal(
                of: "request with another operation",
                by: .bondManagementOperationNotSupported
            ) {
                try await central.write(bonds.controlPoint, BondManagementRequest(delete: .all))
            }
            try await expectRefusal(of: "request with another code", by: .insufficientAuthorization) {
                try await central.write(
                    bonds.controlPoint,
                    BondManagementRequest(delete: .requestingDevice, authorizationCode: [1])
                )
            }
            try expect("bonds", try await session.bondedCentrals().count, is: 1)
            try await central.write(
                bonds.controlPoint,
                BondManagementRequest(delete: .requestingDevice, authorizationCode: code)
            )
            try await central.disconnect()
            try await untilBonded(0, in: session)
        }
    }

    private static let allBondsAreDeleted = Scenario(
        "BondManagement: all bonds are deleted, even if the central disconnects at once"
    ) {
        let bonds = BondManagementService(deleting: [.all])
        return ScenarioRun(Peripheral("Lock", pairing: .justWorks) { bonds }) { central, session in
            let other = try await central.makeAnother()
            try await other.connect()
            try await other.pair(.justWorks)
            try await other.disconnect()
            try await central.pair(.justWorks)
            // The central may complete pairing before the peripheral's host does.
            try await untilBonded(2, in: session)
            try await central.write(bonds.controlPoint, BondManagementRequest(delete: .all))
            try await central.disconnect()
            try await untilBonded(0, in: session)
        }
    }

    /// Waits until the given number of centrals is bonded.
    private static func untilBonded(_ count: Int, in session: PeripheralSession) async throws {
        while try await session.bondedCentrals().count != count {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}
