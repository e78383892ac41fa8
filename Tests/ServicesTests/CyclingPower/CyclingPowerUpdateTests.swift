import PeripheralCyclingPower
import PeripheralKit
import PeripheralTesting
import TestSupport
import Testing

/// How measurements and vectors are divided, and what centrals turn off.
@Suite(.timeLimit(.minutes(1)))
struct CyclingPowerUpdateTests {
    typealias Measurement = CyclingPowerMeasurement

    private static func makePower(isTorqueBased: Bool = false) -> CyclingPowerService {
        CyclingPowerService(
            measuring: [
                .pedalPowerBalance, .accumulatedTorque, .crankRevolutions, .extremeMagnitudes, .extremeAngles,
                .topDeadSpotAngle, .bottomDeadSpotAngle, .accumulatedEnergy,
            ],
            location: .fixed(.leftCrank),
            isTorqueBased: isTorqueBased,
            reportsOffsetCompensation: true,
            isMaskable: true,
            hasVector: true,
            reportsDirection: true,
            onSetWheelRevolutions: { _ in }
        )
    }

    /// Bytes by hand: what fits 20 bytes, in the order of the fields, then the rest; the power in both.
    @Test func whatDoesNotFitIsDivided() async throws {
        let power = Self.makePower()
        try await Peripheral("Crank") { power }.test(mtu: 23) { central, session in
            try await central.subscribe(to: power.measurement)
            try await power.notify(CyclingPowerValueTests.full, in: session)
            #expect(
                try await central.nextUpdate(of: power.measurement).gattBytes == [
                    0x3F, 0x10, 0x00, 0x80, 0x01, 0x20, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x18, 0x04, 0x00,
                    0x00, 0x14,
                ]
            )
            #expect(
                try await central.nextUpdate(of: power.measurement).gattBytes == [
                    0x40, 0x1F, 0x00, 0x80, 0x06, 0x00, 0x07, 0x00, 0x08, 0x90, 0x00, 0x0A, 0x00, 0x0B, 0x00,
                    0x0C, 0x00,
                ]
            )
        }
    }

    @Test func whatFitsIsNotDivided() async throws {
        let power = Self.makePower()
        try await Peripheral("Crank") { power }.test(mtu: 33) { central, session in
            try await central.subscribe(to: power.measurement)
            try await power.notify(CyclingPowerValueTests.full, in: session)
            let update = try await central.nextUpdate(of: power.measurement)
            #expect(update.gattBytes == CyclingPowerValueTests.fullBytes)
        }
    }

    @Test func whatIsNotSupportedIsLeftOut() async throws {
        let power = CyclingPowerService(
            measuring: .accumulatedEnergy,
            location: .fixed(.leftCrank),
            hasVector: true
        )
        let vector = try #require(power.vector)
        try await Peripheral("Crank") { power }.test(mtu: 23) { central, session in
            try await central.subscribe(to: power.measurement)
            try await central.subscribe(to: vector)
            try await power.notify(CyclingPowerValueTests.full, in: session)
            let update = try await central.nextUpdate(of: power.measurement)
            #expect(update == Measurement(watts: .min, kilojoules: 12))
            try await power.notify(vector: CyclingPowerVector(forces: [1], direction: .lateral), in: session)
            #expect(try await central.nextUpdate(of: vector) == CyclingPowerVector(forces: [1]))
        }
    }

    /// Section 3.4.2.13: each bit turns its fields off, and no other.
    static let masked: [(CyclingPowerRequest, Measurement)] = [
        (.mask(.pedalPowerBalance), without { $0.balance = nil }),
        (.mask(.accumulatedTorque), without { $0.accumulatedTorque = nil }),
        (.mask([], wheelRevolutions: true), without { $0.wheel = nil }),
        (.mask(.crankRevolutions), without { $0.crank = nil }),
        (.mask(.extremeMagnitudes), without { $0.forces = nil }),
        (.mask(.extremeAngles), without { $0.angles = nil }),
        (.mask(.topDeadSpotAngle), without { $0.topDeadSpotAngle = nil }),
        (.mask(.bottomDeadSpotAngle), without { $0.bottomDeadSpotAngle = nil }),
        (.mask(.accumulatedEnergy), without { $0.kilojoules = nil }),
        (.mask(.init(rawValue: 0x01FF)), Measurement(watts: .min, offsetCompensationIndicator: true)),
        (.mask([]), CyclingPowerValueTests.full),
    ]

    private static func without(_ change: (inout Measurement) -> Void) -> Measurement {
        var measurement = CyclingPowerValueTests.full
        change(&measurement)
        return measurement
    }

    @Test(arguments: masked)
    func aCentralTurnsOffWhatItDoesNotWant(mask: CyclingPowerRequest, expected: Measurement) async throws {
        let power = Self.makePower()
        let controlPoint = try #require(power.controlPoint)
        try await Peripheral("Crank") { power }.test { central, session in
            try await central.subscribe(to: power.measurement)
            try await central.subscribe(to: controlPoint)
            let response = try await central.request(mask, of: controlPoint)
            #expect(response == .init(.success, to: .maskMeasurementContent))
            try await power.notify(CyclingPowerValueTests.full, in: session)
            #expect(try await central.nextUpdate(of: power.measurement) == expected)
        }
    }

    @Test func eachCentralHasItsOwnMask() async throws {
        let power = Self.makePower()
        let controlPoint = try #require(power.controlPoint)
        try await Peripheral("Crank") { power }.test(as: .specification) { central, session in
            let other = central.makeAnother()
            try await other.connect(mtu: 23)
            for each in [central, other] {
                try await each.subscribe(to: power.measurement)
                try await each.subscribe(to: controlPoint)
            }
            _ = try await other.request(
                CyclingPowerRequest.mask(.init(rawValue: 0x01FE)),
                of: controlPoint
            )
            try await power.notify(CyclingPowerValueTests.full, in: session)
            let expected = Measurement(
                watts: .min,
                balance: CyclingPowerValueTests.full.balance,
                offsetCompensationIndicator: true
            )
            #expect(try await other.nextUpdate(of: power.measurement) == expected)
            // Not divided: the other's small MTU does not matter.
            let full = CyclingPowerValueTests.full
            #expect(try await central.nextUpdate(of: power.measurement) == full)
            _ = try await other.request(CyclingPowerRequest.mask([]), of: controlPoint)
            try await power.notify(Measurement(watts: 1, kilojoules: 7), in: session)
            for each in [central, other] {
                let update = try await each.nextUpdate(of: power.measurement)
                #expect(update == Measurement(watts: 1, kilojoules: 7))
            }
        }
    }

    @Test func aMaskLastsAsLongAsTheConnection() async throws {
        let power = Self.makePower()
        let controlPoint = try #require(power.controlPoint)
        try await Peripheral("Crank") { power }.test { central, session in
            try await central.subscribe(to: controlPoint)
            _ = try await central.request(CyclingPowerRequest.mask(.accumulatedEnergy), of: controlPoint)
            central.disconnect()
            try await until { session.centrals.isEmpty }
            try await central.connect()
            try await central.subscribe(to: power.measurement)
            try await power.notify(Measurement(watts: 1, kilojoules: 7), in: session)
            let update = try await central.nextUpdate(of: power.measurement)
            #expect(update == Measurement(watts: 1, kilojoules: 7))
        }
    }

    /// Bytes by hand, after section 3.5.1: of 20 bytes, 7 are taken by flags, crank and angle, and then 6
    /// magnitudes fit; of the next 20, 9 magnitudes.
    @Test func vectorsAreDivided() async throws {
        let power = Self.makePower(isTorqueBased: true)
        let vector = try #require(power.vector)
        try await Peripheral("Crank") { power }.test(mtu: 23) { central, session in
            try await central.subscribe(to: vector)
            let value = CyclingPowerVector(
                torques: Array(1...16),
                crank: CrankRevolutions(1, at: .seconds(1)),
                firstAngle: 90,
                direction: .tangential
            )
            try await power.notify(vector: value, in: session)
            #expect(
                try await central.nextUpdate(of: vector).gattBytes == [
                    0x1B, 0x01, 0x00, 0x00, 0x04, 0x5A, 0x00, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0,
                ]
            )
            #expect(
                try await central.nextUpdate(of: vector).gattBytes == [
                    0x18, 7, 0, 8, 0, 9, 0, 10, 0, 11, 0, 12, 0, 13, 0, 14, 0, 15, 0,
                ]
            )
            #expect(try await central.nextUpdate(of: vector).gattBytes == [0x18, 16, 0])
            try await power.notify(vector: CyclingPowerVector(firstAngle: 1), in: session)
            #expect(try await central.nextUpdate(of: vector).gattBytes == [0x02, 0x01, 0x00])
        }
    }

    /// GATT Specification Supplement, Cycling Power Vector: at most 9 magnitudes, however much fits.
    @Test func aVectorHasAtMostNineMagnitudes() async throws {
        let power = Self.makePower()
        let vector = try #require(power.vector)
        try await Peripheral("Crank") { power }.test(mtu: 517) { central, session in
            try await central.subscribe(to: vector)
            try await power.notify(
                vector: CyclingPowerVector(forces: Array(1...10), firstAngle: 90),
                in: session
            )
            #expect(
                try await central.nextUpdate(of: vector).gattBytes == [
                    0x06, 0x5A, 0x00, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0, 9, 0,
                ]
            )
            #expect(try await central.nextUpdate(of: vector).gattBytes == [0x04, 10, 0])
        }
    }

    /// Section 3.2.1.8: a sensor measures forces or torques; its features say which.
    @Test(arguments: [false, true])
    func onlyWhatTheSensorMeasuresIsSent(isTorqueBased: Bool) async throws {
        let power = Self.makePower(isTorqueBased: isTorqueBased)
        let vector = try #require(power.vector)
        try await Peripheral("Crank") { power }.test { central, session in
            try await central.subscribe(to: power.measurement)
            try await central.subscribe(to: vector)
            let both = Measurement(
                watts: 1,
                forces: .init(maximum: 3, minimum: 2),
                torques: .init(maximum: 5, minimum: 4)
            )
            try await power.notify(both, in: session)
            #expect(
                try await central.nextUpdate(of: power.measurement).gattBytes
                    == (isTorqueBased
                        ? [0x80, 0x00, 1, 0, 160, 0, 128, 0] : [0x40, 0x00, 1, 0, 3, 0, 2, 0])
            )
            try await power.notify(vector: CyclingPowerVector(forces: [7], firstAngle: 1), in: session)
            try await power.notify(vector: CyclingPowerVector(torques: [7], firstAngle: 1), in: session)
            let expected: [[UInt8]] =
                isTorqueBased
                ? [[0x02, 1, 0], [0x0A, 1, 0, 7, 0]] : [[0x06, 1, 0, 7, 0], [0x02, 1, 0]]
            for bytes in expected { #expect(try await central.nextUpdate(of: vector).gattBytes == bytes) }
        }
    }

    /// The first run does not see the central disconnect, because it ends earlier.
    @Test func aMaskEndsWithTheRun() async throws {
        let power = Self.makePower()
        let controlPoint = try #require(power.controlPoint)
        let peripheral = Peripheral("Crank") { power }
        let backend = InMemoryBackend()
        let central = backend.makeCentral(of: peripheral)
        try await peripheral.run(on: backend) { _ in
            try await central.connect()
            try await central.subscribe(to: controlPoint)
            _ = try await central.request(CyclingPowerRequest.mask(.accumulatedEnergy), of: controlPoint)
        }
        central.disconnect()
        try await peripheral.run(on: backend) { session in
            try await central.connect()
            try await central.subscribe(to: power.measurement)
            try await power.notify(Measurement(watts: 1, kilojoules: 7), in: session)
            let update = try await central.nextUpdate(of: power.measurement)
            #expect(update == Measurement(watts: 1, kilojoules: 7))
        }
    }

    @Test func theOthersGetWhatIsSentWhileOneLeaves() async throws {
        let power = Self.makePower()
        let controlPoint = try #require(power.controlPoint)
        let peripheral = Peripheral("Crank") { power }
        let backend = InMemoryBackend(as: .specification)
        let (kept, keep) = AsyncStream.makeStream(of: Void.self)
        // A measurement of the energy alone goes to the one that wants it, and waits.
        let withheld = WithheldUpdates { update in
            guard update.value == [0x00, 0x08, 1, 0, 7, 0] else { return false }
            keep.yield()
            return true
        }
        let withholding = InterceptedBackend(backend, submit: withheld.submit, handle: withheld.handle)
        try await peripheral.run(on: withholding) { session in
            let leaving = backend.makeCentral(of: peripheral)
            let staying = leaving.makeAnother()
            for central in [leaving, staying] {
                try await central.connect()
                try await central.subscribe(to: power.measurement)
            }
            try await staying.subscribe(to: controlPoint)
            _ = try await staying.request(CyclingPowerRequest.mask(.accumulatedEnergy), of: controlPoint)
            async let notifying: Void = power.notify(Measurement(watts: 1, kilojoules: 7), in: session)
            for await _ in kept { break }
            leaving.disconnect()
            try await notifying
            #expect(try await staying.nextUpdate(of: power.measurement) == Measurement(watts: 1))
        }
    }
}
