import PeripheralBondManagement
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct BondManagementTests {
    /// Bytes by hand, after Bond Management Service 1.0.1, section 3.1: the op codes 1 to 9.
    @Test(
        arguments: [
            (.requestingDevice, .both, 1), (.requestingDevice, .classic, 2),
            (.requestingDevice, .lowEnergy, 3),
            (.all, .both, 4), (.all, .classic, 5), (.all, .lowEnergy, 6), (.allButRequestingDevice, .both, 7),
            (.allButRequestingDevice, .classic, 8), (.allButRequestingDevice, .lowEnergy, 9),
        ] as [(BondScope, BondTransport, UInt8)]
    )
    func operationsHaveTheirCodes(scope: BondScope, transport: BondTransport, code: UInt8) throws {
        let request = BondManagementRequest(delete: scope, of: transport, authorizationCode: [0x34, 0x37])
        #expect(request.gattBytes == [code, 0x34, 0x37])
        #expect(try BondManagementRequest(gattBytes: request.gattBytes) == request)
    }

    /// Bytes by hand, after Bond Management Service 1.0.1, section 3.2: two bits for each op code.
    @Test func featuresFollowFromTheDeclaration() async throws {
        let cases: [(BondManagementService, [UInt8])] = [
            (BondManagementService(), [0x10, 0x00, 0x00]),
            (BondManagementService { _, _ in true }, [0x30, 0x00, 0x00]),
            (BondManagementService(deleting: [.requestingDevice, .all], of: .both), [0x41, 0x00, 0x00]),
            (
                BondManagementService(deleting: [.allButRequestingDevice]) { _, _ in true },
                [0x00, 0x00, 0x03]
            ),
        ]
        for (bonds, bytes) in cases {
            try await Peripheral("P", pairing: .justWorks) { bonds }.test { central in
                try await central.pair(.justWorks)
                let feature = try await central.read(bonds.feature)
                #expect(feature.gattBytes == bytes)
            }
        }
    }

    /// The bond of who asks goes when it has left.
    @Test(arguments: [(BondScope.all, 0), (.allButRequestingDevice, 1)])
    func bondsOfOthersAreDeleted(scope: BondScope, remaining: Int) async throws {
        let bonds = BondManagementService(deleting: [scope])
        try await Peripheral("P", pairing: .justWorks) { bonds }.test { central, session in
            let other = central.makeAnother()
            try await other.connect()
            try await other.pair(.justWorks)
            try await central.pair(.justWorks)
            #expect(try await session.bondedCentrals().count == 2)
            try await central.write(bonds.controlPoint, BondManagementRequest(delete: scope))
            central.disconnect()
            try await until { (try? await session.bondedCentrals().count) == remaining }
        }
    }

    /// Bond Management Service 1.0.1, section 1.6: 0x80, Op Code not supported; 0x81, Operation failed.
    @Test func aCentralWithoutABondHasNoneToDelete() async throws {
        let bonds = BondManagementService(security: .open)
        try await Peripheral("P") { bonds }.test { central in
            for (scope, code) in [(BondScope.all, 0x80), (.requestingDevice, 0x81)] as [(BondScope, UInt8)] {
                await #expect(throws: ATTError(rawValue: code)) {
                    try await central.write(bonds.controlPoint, BondManagementRequest(delete: scope))
                }
            }
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func decodersEndWhateverTheyRead(seed: UInt64) throws {
        try fuzz(BondManagementRequest.self, seed: seed, count: 0...20)
        try fuzz(BondManagementFeature.self, seed: seed, count: 0...6)
    }
}
